// The numbers of the last minute.
import { lastMinute, sumsOf, ticks } from '../../live.ts'
import { count, percent, span } from '../../words.ts'

export function Tiles() {
  const sums = sumsOf(lastMinute.value)
  const newest = ticks.value.at(-1)
  const refused = sums.refused + sums.blocked + sums.unavailable
  const all = sums.allowed + refused
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
        <dd class={refused > 0 ? 'refused' : ''}>{percent(refused, all)}</dd>
      </div>
      <div>
        <dt>Decided within (p99)</dt>
        <dd>{typeof newest?.p99 === 'number' ? span(newest.p99) : '–'}</dd>
      </div>
      <div>
        <dt>Decided without the store</dt>
        <dd class={sums.degraded > 0 ? 'refused' : ''}>{count(sums.degraded)}</dd>
      </div>
      {typeof newest?.keys === 'number' && (
        <div>
          <dt>Keys in memory</dt>
          <dd>{count(newest.keys)}</dd>
        </div>
      )}
    </dl>
  )
}
