// The page: controls, the sentence, time, one lane for each algorithm, and the table.
import type { JSX } from 'preact'
import { Controls } from './controls.tsx'
import { LaneCard } from './lane-card.tsx'
import { isBusy, shown } from './state.ts'
import { TimeBar } from './time-bar.tsx'
import { algorithmName, count, percent, time, verdict } from './words.ts'
import type { Lane } from './compute.ts'

export function App(): JSX.Element {
  const { lanes, keys, key } = shown.value
  const highest = highestOf(lanes)
  return (
    <>
      <header class="top">
        <p class="brand">
          Sluice <span>playground</span>
        </p>
        <p class="hint">
          The library decides here, in your browser. The address of this page carries every setting.
        </p>
        <a class="jump" href="#settings" onClick={toControls}>
          Change the settings
        </a>
      </header>
      <div class="columns">
        <Controls />
        <main aria-busy={isBusy.value}>
          <h1>{verdict(lanes)}</h1>
          <TimeBar />
          <ul class="legend" aria-label="Legend">
            <li class="allowed">allowed</li>
            {lanes.some(({ delayed }) => delayed > 0) && (
              <li class="delayed">held, then allowed</li>
            )}
            <li class="refused">refused</li>
            <li class="level">left{keys > 1 ? ` for ${key}, the busiest key` : ''}</li>
          </ul>
          <div class="lanes">
            {lanes.map((lane) => (
              <LaneCard key={lane.algorithm} lane={lane} highest={highest} />
            ))}
          </div>
          {lanes.length > 0 && <Numbers lanes={lanes} />}
        </main>
      </div>
    </>
  )
}

/** The fragment of the address is the state, so a link must not replace it. */
function toControls(event: Event): void {
  event.preventDefault()
  document.querySelector<HTMLElement>('#quota')!.focus()
}

function highestOf(lanes: readonly Lane[]): number {
  let highest = 1
  for (const { steps } of lanes)
    for (let i = 0; i < steps.allowed.length; i++)
      highest = Math.max(highest, steps.allowed[i]! + steps.delayed[i]! + steps.refused[i]!)
  return highest
}

function Numbers({ lanes }: { readonly lanes: readonly Lane[] }): JSX.Element {
  const window = time(lanes[0]!.limit.window)
  return (
    <div class="table" tabindex={0} role="region" aria-label="All numbers">
      <table>
        <caption>All numbers</caption>
        <thead>
          <tr>
            <th scope="col">algorithm</th>
            <th scope="col">requests</th>
            <th scope="col">allowed</th>
            <th scope="col">refused</th>
            <th scope="col">refused share</th>
            <th scope="col">held</th>
            <th scope="col">most of one key in {window}</th>
            <th scope="col">keys refused</th>
          </tr>
        </thead>
        <tbody>
          {lanes.map((lane) => (
            <tr key={lane.algorithm}>
              <th scope="row">{algorithmName(lane.algorithm)}</th>
              <td>{count(lane.requests)}</td>
              <td>{count(lane.allowed)}</td>
              <td>{count(lane.refused)}</td>
              <td>{percent(lane.refused / Math.max(1, lane.requests))}</td>
              <td>{count(lane.delayed)}</td>
              <td>{count(lane.peak)}</td>
              <td>{count(lane.keysRefused)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
