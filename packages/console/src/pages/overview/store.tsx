// How the store answered over time: its breaker and fallback as a band, its latency as lines.
import { ticks } from '../../live.ts'
import { marksOf } from '../../marks.ts'
import { Chart, type Line } from '../../parts/chart.tsx'
import { Times } from '../../parts/times.tsx'
import type { Tick } from '../../types.ts'

export function Store() {
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
  const title = hasStore ? 'How long the store took' : 'How long decisions took'
  return (
    <section class="panel" aria-labelledby="store">
      <div class="bar">
        <h2 id="store">Store</h2>
        <ul class="legend" aria-hidden="true">
          <li>
            <i style={{ background: 'var(--good)' }} />
            answers
          </li>
          <li>
            <i style={{ background: 'var(--warn)' }} />
            some without it
          </li>
          <li>
            <i style={{ background: 'var(--bad)' }} />
            breaker open
          </li>
        </ul>
      </div>
      <Timeline list={list} />
      <Times ticks={list} />
      <Chart
        title={title}
        times={list.map(({ t }) => t / 1000)}
        lines={lines}
        marks={marksOf(list)}
        unit="ms"
        height={140}
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
      {list.map(({ t, generation, breaker, degraded }, i) => (
        <i
          key={t}
          class={[
            breaker === 'open' ? 'bad' : degraded > 0 || breaker === 'half-open' ? 'warn' : 'good',
            i > 0 && generation > list[i - 1]!.generation ? 'reload' : '',
          ].join(' ')}
        />
      ))}
    </div>
  )
}
