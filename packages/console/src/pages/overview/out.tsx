// Units out of the counts now, and the processes that decide.
import { detail, processes, ticks } from '../../live.ts'
import { Sparkline } from '../../parts/sparkline.tsx'
import { count } from '../../words.ts'

/** Units out, by the kind that the metric names. */
const OUT = [
  ['lease', 'Units leased'],
  ['hold', 'Units reserved'],
  ['slot', 'Slots taken'],
] as const

export function Out() {
  const list = ticks.value
  return (
    <section class="panel" aria-labelledby="out">
      <h2 id="out">Out now</h2>
      <dl class="facts">
        {OUT.map(([kind, label]) => (
          <div key={kind}>
            <dt>{label}</dt>
            <dd>
              {count(Math.max(0, list.at(-1)?.out[kind] ?? 0))}
              <Sparkline
                name={`${label} over ten minutes`}
                colour="--c4"
                values={binned(list.map(({ out }) => Math.max(0, out[kind] ?? 0)))}
              />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

export function Processes() {
  const { workers } = detail.value
  return (
    <section class="panel" aria-labelledby="processes">
      <h2 id="processes">Workers and instances</h2>
      <dl class="facts">
        <div>
          <dt>Workers of this instance</dt>
          <dd class={workers !== undefined && workers.ready < workers.wanted ? 'refused' : ''}>
            {workers === undefined ? 'one process' : `${workers.ready} of ${workers.wanted} ready`}
          </dd>
        </div>
        <div>
          <dt>Processes on this store</dt>
          <dd>{count(processes.value)}</dd>
        </div>
        <div>
          <dt>Generation of the policies</dt>
          <dd>{detail.value.generation ?? ticks.value.at(-1)?.generation ?? '–'}</dd>
        </div>
      </dl>
    </section>
  )
}

/** The largest value in each step of ten seconds. */
function binned(values: readonly number[]): readonly number[] {
  const bins: number[] = []
  for (let i = 0; i < values.length; i += 10) bins.push(Math.max(...values.slice(i, i + 10)))
  return bins
}
