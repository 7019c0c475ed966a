// The newest dialect: RateLimit-Policy and RateLimit as structured lists (draft-ietf-httpapi-ratelimit-headers-11).
import type { VisibleOutcome } from '../../decision/lazy-decision.ts'
import type { Limit } from '../../limit/limit.ts'
import { quotaOf, windowOf, type Dialect } from './dialect.ts'
import { integerItem, secondsItem, stringItem } from './structured-fields.ts'

/** What does not change from one response to the next. */
interface Fixed {
  readonly limit: Limit
  readonly rule: string
  /** The whole item of RateLimit-Policy. */
  readonly policy: string
  /** The beginning of the item of RateLimit. */
  readonly name: string
  /** Items of RateLimit that were written lately, by the last bits of what they say remains. */
  readonly items: (Item | undefined)[]
}

/** An item of RateLimit and what it says. */
interface Item {
  readonly remaining: number
  readonly seconds: number
  readonly text: string
}

/** A text that is sent again costs half as much as a new one, which has to be made, flattened and looked through. */
const ITEMS = 256

/** Makes the dialect, which remembers the fixed texts of each limit. */
export function structured(): Dialect {
  const known = new WeakMap<Limit, Fixed>()
  // Nearly always the same limit as before.
  let last: Fixed | null = null

  const fixedOf = ({ limit, rule }: VisibleOutcome): Fixed => {
    if (last !== null && last.limit === limit && last.rule === rule) return last
    const before = known.get(limit)
    if (before !== undefined && before.rule === rule) return (last = before)
    const name = stringItem(rule)
    const policy = flat([name, ';q=', integerItem(quotaOf(limit)), ';w=', windowOf(limit)])
    last = { limit, rule, policy, name: `${name};r=`, items: Array.from({ length: ITEMS }) }
    known.set(limit, last)
    return last
  }

  return {
    fields: ['RateLimit-Policy', 'RateLimit'],
    write(port, response, outcomes, partitionKey) {
      // A list may go on where another limiter, or an upstream service, has begun it.
      const before = port.get(response, 'RateLimit')
      let policies = before === undefined ? '' : (port.get(response, 'RateLimit-Policy') ?? '')
      let limits = before ?? ''
      for (const outcome of outcomes) {
        const fixed = fixedOf(outcome)
        const item = itemOf(
          fixed,
          integerItem(outcome.remaining),
          secondsItem(outcome.availableAfter),
        )
        const key = partitionKey === null ? undefined : partitionKey(outcome)
        const partition = key === undefined ? '' : `;pk=:${key}:`
        policies = joined(policies, fixed.policy + partition)
        limits = joined(limits, item + partition)
      }
      port.set(response, 'RateLimit-Policy', policies)
      port.set(response, 'RateLimit', limits)
    },
  }
}

function itemOf({ name, items }: Fixed, remaining: number, seconds: number): string {
  const slot = remaining % ITEMS
  const known = items[slot]
  if (known !== undefined && known.remaining === remaining && known.seconds === seconds)
    return known.text
  const text = flat([name, remaining, ';t=', seconds])
  items[slot] = { remaining, seconds, text }
  return text
}

/** Joined, the text is in one piece; concatenated, it would be put together again by every look that Node takes at it. */
function flat(parts: readonly (string | number)[]): string {
  return parts.join('')
}

function joined(list: string, item: string): string {
  return list === '' ? item : `${list}, ${item}`
}
