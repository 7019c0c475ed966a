// The first sentence of the console.
import { detail, lastMinute, link, names, sumsOf, ticks } from '../../live.ts'
import { clock, count, percent } from '../../words.ts'

/** One sentence: is anything wrong, and what? */
export function Verdict() {
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
