// The numbers of the last minute, and what is out of the counts now.
import { detail, lastMinute, processes, sumsOf, ticks } from '../../live.ts'
import { count, percent, span } from '../../words.ts'

/** Units out, by the kind that the metric names. */
const OUT: Readonly<Record<string, string>> = {
  lease: 'Units leased',
  hold: 'Units reserved',
  slot: 'Slots taken',
}

export function Tiles() {
  const sums = sumsOf(lastMinute.value)
  const newest = ticks.value.at(-1)
  const all = sums.allowed + sums.refused + sums.unavailable + sums.blocked
  const out = Object.entries(newest?.out ?? {}).filter(([kind]) =>
    ticks.value.some((tick) => (tick.out[kind] ?? 0) !== 0),
  )
  const { workers } = detail.value
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
          <dt>{OUT[kind] ?? kind}</dt>
          <dd>{count(Math.max(0, units))}</dd>
        </div>
      ))}
      {workers !== undefined && (
        <div>
          <dt>Workers</dt>
          <dd class={workers.ready < workers.wanted ? 'refused' : ''}>
            {workers.ready} <small>of {workers.wanted} ready</small>
          </dd>
        </div>
      )}
      {processes.value > 1 && (
        <div>
          <dt>Processes of the fleet</dt>
          <dd>{count(processes.value)}</dd>
        </div>
      )}
    </dl>
  )
}
