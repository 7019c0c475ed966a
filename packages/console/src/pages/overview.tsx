// The first page: one sentence on how things are, then what happens over time, rule by rule and key by key.
import { useState } from 'preact/hooks'
import { askBlock, askGrant, askOverride } from '../changes.ts'
import {
  detail,
  idOf,
  keySeries,
  lastMinute,
  link,
  mayChange,
  names,
  sumsOf,
  ticks,
  top,
} from '../live.ts'
import { Chart, type Line, type Mark } from '../parts/chart.tsx'
import { HeatMap } from '../parts/heat-map.tsx'
import { Sparkline } from '../parts/sparkline.tsx'
import { hrefOf } from '../router.ts'
import type { Offender, Tick } from '../types.ts'
import { clock, count, keyWords, percent, shown, span } from '../words.ts'

export function Overview() {
  return (
    <>
      <Verdict />
      <Tiles />
      <Traffic />
      <Rules />
      <TopKeys />
      <section class="panel" aria-labelledby="levels">
        <h2 id="levels">What was left</h2>
        <p class="hint">
          Each decision by the share of the quota that it left. Dark at the bottom: counts run
          empty.
        </p>
        <HeatMap ticks={ticks.value} />
      </section>
      <Store />
    </>
  )
}

/** Reloads and losses of the store, as marks on every time axis. */
export function marksOf(list: readonly Tick[]): readonly Mark[] {
  const marks: Mark[] = []
  for (let i = 1; i < list.length; i++) {
    const [before, tick] = [list[i - 1]!, list[i]!]
    if (tick.generation > before.generation) marks.push({ t: tick.t / 1000, label: 'reload' })
    if (tick.breaker === 'open' && before.breaker === 'closed')
      marks.push({ t: tick.t / 1000, label: 'store lost' })
    if (tick.breaker === 'closed' && before.breaker !== 'closed')
      marks.push({ t: tick.t / 1000, label: 'store back' })
  }
  return marks
}

/** One sentence: is anything wrong, and what? */
function Verdict() {
  const sums = sumsOf(lastMinute.value)
  const all = sums.allowed + sums.refused + sums.unavailable + sums.blocked
  const refused = sums.refused + sums.blocked + sums.unavailable
  const newest = ticks.value.at(-1)
  const problems = detail.value.reloadProblems ?? []
  const worst = worstRule()
  let level: 'good' | 'warn' | 'bad' = 'good'
  const sentences: string[] = []
  if (newest !== undefined && newest.breaker !== 'closed') {
    level = 'bad'
    sentences.push(`The store does not answer. Since ${sinceLost()} decisions are made without it.`)
  } else if (detail.value.degraded === true) {
    level = 'bad'
    sentences.push('There is no connection to the store. Decisions are made without it.')
  }
  if (problems.length > 0) {
    level = level === 'bad' ? 'bad' : 'warn'
    sentences.push('The file has mistakes; the policies before it stay in force.')
  }
  if (all === 0) sentences.push('No request in the last minute.')
  else {
    const share = refused / all
    if (share > 0.01 && level === 'good') level = 'warn'
    const rate = count(Math.round(all / Math.max(1, sums.seconds)))
    sentences.push(
      `${percent(refused, all)} of ${rate} requests a second were refused in the last minute${worst === undefined ? '' : `, most by ${worst}`}.`,
    )
  }
  const headline = { good: 'All is well.', warn: 'Look at this.', bad: 'Something is wrong.' }[
    level
  ]
  return (
    <section class={`verdict ${level}`} aria-labelledby="verdict">
      <h1 id="verdict" tabIndex={-1}>
        {headline}
      </h1>
      <p>{link.value === 'connecting' ? 'Connecting…' : sentences.join(' ')}</p>
    </section>
  )
}

function worstRule(): string | undefined {
  let worst: { readonly rule: string; readonly refused: number } | undefined
  for (const [place, { rule }] of names.value.entries()) {
    const { refused } = sumsOf(lastMinute.value, place)
    if (refused > (worst?.refused ?? 0)) worst = { rule, refused }
  }
  return worst?.rule
}

function sinceLost(): string {
  const list = ticks.value
  let i = list.length - 1
  while (i > 0 && list[i - 1]!.breaker !== 'closed') i--
  return clock(list[i]?.t ?? Date.now())
}

function Tiles() {
  const sums = sumsOf(lastMinute.value)
  const newest = ticks.value.at(-1)
  const all = sums.allowed + sums.refused + sums.unavailable + sums.blocked
  const out = Object.entries(newest?.out ?? {})
  return (
    <dl class="tiles">
      <div>
        <dt>Requests</dt>
        <dd>
          {count(Math.round(all / Math.max(1, sums.seconds)))} <small>a second</small>
        </dd>
      </div>
      <div>
        <dt>Refused</dt>
        <dd class={sums.refused + sums.blocked > 0 ? 'refused' : ''}>
          {percent(sums.refused + sums.blocked + sums.unavailable, all)}
        </dd>
      </div>
      <div>
        <dt>Decided within (p99)</dt>
        <dd>{typeof newest?.p99 === 'number' ? span(newest.p99) : '–'}</dd>
      </div>
      <div>
        <dt>Without the store</dt>
        <dd class={sums.degraded > 0 ? 'refused' : ''}>{count(sums.degraded)}</dd>
      </div>
      {typeof newest?.keys === 'number' && (
        <div>
          <dt>Keys in memory</dt>
          <dd>{count(newest.keys)}</dd>
        </div>
      )}
      {out.map(([kind, units]) => (
        <div key={kind}>
          <dt>{kind} out</dt>
          <dd>{count(units)}</dd>
        </div>
      ))}
    </dl>
  )
}

const RULE_COLOURS = ['--c1', '--c2', '--c3', '--c4', '--c5', '--c6']

function Traffic() {
  const [isLog, setLog] = useState(false)
  const [isByRule, setByRule] = useState(false)
  const list = ticks.value
  const times = list.map(({ t }) => t / 1000)
  return (
    <section class="panel" aria-labelledby="traffic">
      <div class="bar">
        <h2 id="traffic">Requests a second</h2>
        <label class="toggle">
          <input type="checkbox" checked={isByRule} onChange={() => setByRule(!isByRule)} /> refused
          by rule
        </label>
        <label class="toggle">
          <input type="checkbox" checked={isLog} onChange={() => setLog(!isLog)} /> logarithmic
        </label>
      </div>
      <Chart
        title={isByRule ? 'Refused requests a second by rule' : 'Requests a second'}
        times={times}
        lines={isByRule ? refusedByRule(list) : totals(list)}
        marks={marksOf(list)}
        log={isLog}
        height={220}
      />
    </section>
  )
}

function totals(list: readonly Tick[]): readonly Line[] {
  const sum = (index: 1 | 2 | 4) =>
    list.map(({ rules }) => rules.reduce((total, counts) => total + counts[index], 0))
  const shadow = sum(4)
  return [
    { label: 'allowed', colour: '--allowed', values: sum(1), filled: true },
    {
      label: 'refused',
      colour: '--refused',
      values: sum(2).map((value, i) => value + list[i]!.blocked),
      filled: true,
    },
    ...(shadow.some((value) => value > 0)
      ? [{ label: 'would be refused (shadow, candidate)', colour: '--shadow', values: shadow }]
      : []),
  ]
}

function refusedByRule(list: readonly Tick[]): readonly Line[] {
  return names.value
    .map(({ rule }, place) => ({ rule, place, refused: sumsOf(list, place).refused }))
    .filter(({ refused }) => refused > 0)
    .toSorted((a, b) => b.refused - a.refused)
    .slice(0, RULE_COLOURS.length)
    .map(({ rule, place }, i) => ({
      label: rule === '' ? 'no rule' : rule,
      colour: RULE_COLOURS[i]!,
      values: list.map(({ rules }) => rules.find(([index]) => index === place)?.[2] ?? 0),
    }))
}

function Rules() {
  const list = ticks.value
  const rows = names.value
    .map((name, place) => ({ ...name, place, ...sumsOf(lastMinute.value, place) }))
    .filter(({ rule }) => rule !== '')
  return (
    <section class="panel" aria-labelledby="rules">
      <h2 id="rules">Rules</h2>
      {rows.length === 0 ? (
        <p class="empty">No rule has decided anything yet.</p>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="List of rules">
          <table>
            <thead>
              <tr>
                <th scope="col">Rule</th>
                <th scope="col">Policy</th>
                <th scope="col">Refused, last 10 min</th>
                <th scope="col" class="number">
                  Allowed / min
                </th>
                <th scope="col" class="number">
                  Refused / min
                </th>
                <th scope="col" class="number">
                  Share
                </th>
                <th scope="col" class="number">
                  Would refuse
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ policy, rule, place, allowed, refused, shadow }) => (
                <tr key={place}>
                  <th scope="row">
                    <a href={hrefOf('rule', { policy, rule })}>{shown(rule)}</a>
                  </th>
                  <td>{shown(policy)}</td>
                  <td>
                    <Sparkline
                      name={`Refusals of ${rule} over ten minutes`}
                      colour="--refused"
                      values={binned(list, place)}
                    />
                  </td>
                  <td class="number">{count(allowed)}</td>
                  <td class="number">{count(refused)}</td>
                  <td class={`number ${refused > 0 ? 'refused' : ''}`}>
                    {percent(refused, allowed + refused)}
                  </td>
                  <td class="number">{shadow === 0 ? '–' : count(shadow)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

/** Refusals in steps of ten seconds. */
function binned(list: readonly Tick[], place: number): readonly number[] {
  const bins: number[] = []
  for (let i = 0; i < list.length; i += 10) bins.push(sumsOf(list.slice(i, i + 10), place).refused)
  return bins
}

function TopKeys() {
  return (
    <section class="panel" aria-labelledby="top-keys">
      <h2 id="top-keys">Refused most</h2>
      {top.value.length === 0 ? (
        <p class="empty">Nobody was refused in the last minutes.</p>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Keys refused most">
          <table>
            <thead>
              <tr>
                <th scope="col">Key</th>
                <th scope="col">Rule</th>
                <th scope="col">Lately</th>
                <th scope="col" class="number">
                  Refused
                </th>
                {mayChange.value && <th scope="col">Actions</th>}
              </tr>
            </thead>
            <tbody>
              {top.value.map((offender) => (
                <TopKey key={idOf(offender)} offender={offender} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

function TopKey({ offender }: { readonly offender: Offender }) {
  const { policy, rule, attributes, refused, error } = offender
  const about = { policy, ...attributes }
  return (
    <tr>
      <th scope="row" class="key">
        <a href={hrefOf('key', about)}>{keyWords(attributes)}</a>
      </th>
      <td>{shown(rule)}</td>
      <td>
        <Sparkline
          name={`Refusals of ${keyWords(attributes)}`}
          colour="--refused"
          values={steps(keySeries.get(idOf(offender)) ?? [])}
        />
      </td>
      <td class="number">
        {count(refused)}
        {error > 0 && <small> ± {count(error)}</small>}
      </td>
      {mayChange.value && (
        <td class="actions">
          <button type="button" onClick={() => askGrant({ policy, attributes }, rule, 10)}>
            Grant
          </button>
          <button type="button" onClick={() => askOverride({ policy, attributes }, rule)}>
            Override
          </button>
          <button type="button" onClick={() => askBlock({ policy, attributes })}>
            Block
          </button>
        </td>
      )}
    </tr>
  )
}

/** How much each number has grown since the one before it. */
function steps(totals: readonly number[]): readonly number[] {
  return totals.slice(1).map((value, i) => Math.max(0, value - totals[i]!))
}

function Store() {
  const list = ticks.value
  const hasStore = list.some(({ store }) => store[1] !== null)
  const lines: readonly Line[] = hasStore
    ? [
        { label: 'store, p50', colour: '--c1', values: list.map(({ store }) => store[0]) },
        { label: 'store, p99', colour: '--c2', values: list.map(({ store }) => store[1]) },
      ]
    : [
        { label: 'decision, p50', colour: '--c1', values: list.map(({ p50 }) => p50) },
        { label: 'decision, p99', colour: '--c2', values: list.map(({ p99 }) => p99) },
      ]
  return (
    <section class="panel" aria-labelledby="store">
      <h2 id="store">Store</h2>
      <Timeline list={list} />
      <Chart
        title="How long the store took"
        times={list.map(({ t }) => t / 1000)}
        lines={lines}
        marks={marksOf(list)}
        unit="ms"
        height={160}
      />
    </section>
  )
}

/** When the store answered, and when it did not. */
function Timeline({ list }: { readonly list: readonly Tick[] }) {
  const lost = list.filter(({ breaker, degraded }) => breaker !== 'closed' || degraded > 0).length
  return (
    <div
      class="timeline"
      role="img"
      aria-label={
        lost === 0
          ? 'The store answered all the time.'
          : `Decisions were made without the store in ${lost} of ${list.length} seconds.`
      }
    >
      {list.map(({ t, breaker, degraded }) => (
        <i
          key={t}
          class={
            breaker === 'open' ? 'bad' : degraded > 0 || breaker === 'half-open' ? 'warn' : 'good'
          }
        />
      ))}
    </div>
  )
}
