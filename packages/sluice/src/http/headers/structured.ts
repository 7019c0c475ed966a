// The newest dialect: RateLimit-Policy and RateLimit as structured lists (draft-ietf-httpapi-ratelimit-headers-11), and the
// numbers and strings that older dialects write too.
import type { Limit } from '../../limit/limit.ts'
import type { Millis } from '../../time/clock.ts'
import type { Dialect, ReportedLimit } from './dialect.ts'

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
    const per = isTimed ? `;w=${windowOf(limit)}` : ';qu="concurrent-requests"'
    // The quota of a header field is the most units at once.
    const policy = [name, ';q=', integerItem(limit.burst), per].join('')
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
        if (showsRemaining(one)) access.set(response, 'RateLimit', itemFor(fixed, one))
        return
      }
      const policies = policiesBefore ? [policiesBefore] : []
      const limits = before ? [before] : []
      for (const one of reported) {
        const fixed = fixedOf(one)
        const key = partitionKey === null ? undefined : partitionKey(one)
        const partition = key === undefined ? '' : `;pk=:${key}:`
        policies.push(fixed.policy + partition)
        if (showsRemaining(one)) limits.push(itemFor(fixed, one) + partition)
      }
      access.set(response, 'RateLimit-Policy', policies.join(', '))
      if (limits.length > 0) access.set(response, 'RateLimit', limits.join(', '))
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
  // Joining makes one flat string; concatenation makes a tree that Node would flatten again for every response.
  const string = (isTimed ? [name, remaining, ';t=', seconds] : [name, remaining]).join('')
  items[slot] = { remaining, seconds, string }
  return string
}

/**
 * Whether the fields show what the whole count has left. A lease knows only its own units: it may have none when nearly all
 * of the limit is free, and a client that reads this stops without need.
 */
export function showsRemaining({ allowed, source }: ReportedLimit): boolean {
  return !allowed || source !== 'lease'
}

/**
 * The window in whole seconds, at least 1. For a bucket it is the time that fills it from empty: then quota ÷ window
 * is the true rate, and `remaining` never exceeds the quota.
 */
export function windowOf({ quota, window, burst }: Limit): number {
  const millis = quota === 0 ? window : (burst * window) / quota
  return Math.max(1, secondsItem(millis))
}

/** The largest integer that a structured field can hold (RFC 9651 §3.3.1). */
const MAX_INTEGER = 999_999_999_999_999

/** A String item (RFC 9651). Characters that a header cannot carry become `?`: no name can end the line or the quotes. */
export function stringItem(value: string): string {
  return `"${value.replaceAll(/[^ -~]/g, '?').replaceAll(/["\\]/g, String.raw`\$&`)}"`
}

/** An Integer item, 0 or more. */
export function integerItem(value: number): number {
  return value < MAX_INTEGER ? Math.max(0, Math.floor(value)) : MAX_INTEGER
}

/** Milliseconds as whole seconds, rounded up. */
export function secondsItem(millis: Millis): number {
  return integerItem(Math.ceil(millis / 1000))
}
