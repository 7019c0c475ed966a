// The newest dialect: RateLimit-Policy and RateLimit as structured lists (draft-ietf-httpapi-ratelimit-headers-11).
import type { Limit } from '../../limit/limit.ts'
import {
  integerItem,
  reportedQuota,
  secondsItem,
  stringItem,
  tellsRest,
  windowOf,
  type Dialect,
  type ReportedLimit,
} from './dialect.ts'

/** The strings of one limit that are the same in every response. */
interface FixedStrings {
  readonly limit: Limit
  readonly rule: string
  /** The whole item of RateLimit-Policy. */
  readonly policy: string
  /** The beginning of the item of RateLimit. */
  readonly name: string
  /** Whether units come back with time; slots come free when requests end. */
  readonly isTimed: boolean
  /** Items of RateLimit that were written lately, at `remaining % ITEMS`. */
  readonly items: (Item | undefined)[]
}

/** An item of RateLimit and its numbers. */
interface Item {
  readonly remaining: number
  readonly seconds: number
  readonly string: string
}

/** Sending a string again costs half as much as a new one, which must be made, flattened and checked by Node. */
const ITEMS = 256

/** Creates the dialect, which remembers the fixed strings of each limit. */
export function structured(): Dialect {
  const known = new WeakMap<Limit, FixedStrings>()
  // Consecutive responses usually report the same limit.
  let last: FixedStrings | null = null

  const fixedOf = ({ limit, rule }: ReportedLimit): FixedStrings => {
    if (last !== null && last.limit === limit && last.rule === rule) return last
    const before = known.get(limit)
    if (before !== undefined && before.rule === rule) return (last = before)
    const name = stringItem(rule)
    const isTimed = limit.slots !== true
    const per = isTimed ? [';w=', windowOf(limit)] : [';qu="concurrent-requests"']
    const policy = flat([name, ';q=', integerItem(reportedQuota(limit)), ...per])
    const items = Array.from<Item | undefined>({ length: ITEMS })
    last = { limit, rule, policy, name: `${name};r=`, isTimed, items }
    known.set(limit, last)
    return last
  }

  return {
    fields: ['RateLimit-Policy', 'RateLimit'],
    write(access, response, reported, partitionKey) {
      // Another limiter or an upstream service may have begun the lists.
      const before = access.get(response, 'RateLimit')
      const policiesBefore = access.get(response, 'RateLimit-Policy')
      const isFirst = before === undefined && policiesBefore === undefined
      if (isFirst && partitionKey === null && reported.length === 1) {
        const one = reported[0]!
        const fixed = fixedOf(one)
        access.set(response, 'RateLimit-Policy', fixed.policy)
        if (tellsRest(one)) access.set(response, 'RateLimit', itemFor(fixed, one))
        return
      }
      let policies = policiesBefore ?? ''
      let limits = before ?? ''
      for (const one of reported) {
        const fixed = fixedOf(one)
        const key = partitionKey === null ? undefined : partitionKey(one)
        const partition = key === undefined ? '' : `;pk=:${key}:`
        policies = joined(policies, fixed.policy + partition)
        if (tellsRest(one)) limits = joined(limits, itemFor(fixed, one) + partition)
      }
      access.set(response, 'RateLimit-Policy', policies)
      if (limits !== '') access.set(response, 'RateLimit', limits)
    },
  }
}

/** The item of RateLimit. */
function itemFor({ name, isTimed, items }: FixedStrings, reported: ReportedLimit): string {
  const remaining = integerItem(reported.remaining)
  const seconds = isTimed ? secondsItem(reported.availableAfter) : 0
  const slot = remaining % ITEMS
  const known = items[slot]
  if (known !== undefined && known.remaining === remaining && known.seconds === seconds)
    return known.string
  const string = flat(isTimed ? [name, remaining, ';t=', seconds] : [name, remaining])
  items[slot] = { remaining, seconds, string }
  return string
}

/** Joining makes one flat string; concatenation makes a tree that Node would flatten again for every response. */
function flat(parts: readonly (string | number)[]): string {
  return parts.join('')
}

function joined(list: string, item: string): string {
  return list === '' ? item : `${list}, ${item}`
}
