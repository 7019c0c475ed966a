// The first sentence of the console: how many are refused, whether the store answers, and which rule refuses most.
import { detail, lastMinute, link, names, sumsOf, ticks } from '../../live.ts'
import { VerdictBox, type State } from '../../parts/verdict-box.tsx'
import { hrefOf } from '../../router.ts'
import type { RuleName } from '../../types.ts'
import { clock, count, percent, shown } from '../../words.ts'

/** The share of refused requests above which the page asks for a look. */
const MANY = 0.05

export function Verdict() {
  const sums = sumsOf(lastMinute.value)
  const all = sums.allowed + sums.refused + sums.unavailable + sums.blocked
  const refused = sums.refused + sums.blocked + sums.unavailable
  const newest = ticks.value.at(-1)
  const problems = detail.value.reloadProblems ?? []
  const isLost = newest !== undefined && newest.breaker !== 'closed'
  const isDegraded = isLost || detail.value.degraded === true
  const state: State = isDegraded
    ? 'bad'
    : problems.length > 0 || refused > MANY * all
      ? 'warn'
      : 'good'
  const worst = worstRule()
  const rate = count(Math.round(all / Math.max(1, sums.seconds)))
  return (
    <VerdictBox state={state} name="Verdict">
      <h1 id="verdict" tabIndex={-1}>
        {isLost && `The store does not answer since ${sinceLost()}. `}
        {!isLost && isDegraded && 'There is no connection to the store. '}
        {link.value === 'connecting' ? (
          'Connecting…'
        ) : all === 0 ? (
          'No request in the last minute.'
        ) : refused === 0 ? (
          'No request was refused in the last minute.'
        ) : (
          <>
            {percent(refused, all)} of requests were refused in the last minute
            {worst !== undefined && (
              <>
                , most by <a href={hrefOf('rule', { ...worst })}>{shown(worst.rule)}</a>
              </>
            )}
            .
          </>
        )}
      </h1>
      <p>
        {all > 0 && `${rate} requests a second. `}
        {isDegraded
          ? 'Decisions are made without the store, as each rule says. '
          : 'The store answers. '}
        {problems.length > 0
          ? 'The file has mistakes: the policies before it stay in force.'
          : 'The policies are valid.'}
      </p>
    </VerdictBox>
  )
}

function worstRule(): RuleName | undefined {
  let worst: { readonly name: RuleName; readonly refused: number } | undefined
  for (const [place, name] of names.value.entries()) {
    const { refused } = sumsOf(lastMinute.value, place)
    if (refused > (worst?.refused ?? 0)) worst = { name, refused }
  }
  return worst?.name
}

function sinceLost(): string {
  const list = ticks.value
  let i = list.length - 1
  while (i > 0 && list[i - 1]!.breaker !== 'closed') i--
  return clock(list[i]?.t ?? Date.now())
}
