// The dialects that show one limit: RateLimit-* up to draft 7, and X-RateLimit-*.
import type { Millis } from '../../time/clock.ts'
import type { Dialect, ReportedLimit } from './dialect.ts'
import { integerItem, secondsItem, showsRemaining, windowOf } from './structured.ts'

/** Draft 7: one RateLimit dictionary for the tightest limit, and a list of policies. */
export function draft7(): Dialect {
  return {
    fields: ['RateLimit-Policy', 'RateLimit'],
    write(access, response, all) {
      const reported = ratesOf(all)
      if (reported.length === 0) return
      const tight = tightest(reported)
      const before = access.get(response, 'RateLimit')
      if (!showsRemaining(tight)) {
        // Fields of another limiter stay.
        if (before === undefined) access.set(response, 'RateLimit-Policy', policyList(reported))
        return
      }
      if (before !== undefined && showsLess(/(?:^|[ ,])remaining=(\d+)/.exec(before)?.[1], tight))
        return
      const limit = `limit=${integerItem(tight.limit.burst)}`
      const rest = `remaining=${integerItem(tight.remaining)}, reset=${secondsItem(resetOf(tight))}`
      access.set(response, 'RateLimit-Policy', policyList(reported))
      access.set(response, 'RateLimit', `${limit}, ${rest}`)
    },
  }
}

/** How a dialect of three fields differs from the others. */
interface TripleOptions {
  readonly prefix: string
  /** What `…-Reset` counts. */
  readonly reset: 'seconds from now' | 'seconds since the epoch'
  /** Where the list of policies stands: in a field of its own, after the limit, or nowhere. */
  readonly policies: 'own field' | 'after the limit' | 'none'
}

/** Three fields in whole numbers: `…-Limit`, `…-Remaining` and `…-Reset` of the tightest limit. */
export function triple({ prefix, reset, policies }: TripleOptions): Dialect {
  const [limitField, remainingField, resetField] = [
    `${prefix}-Limit`,
    `${prefix}-Remaining`,
    `${prefix}-Reset`,
  ]
  const policyField = `${prefix}-Policy`
  const isSinceEpoch = reset === 'seconds since the epoch'
  const stringOfQuota = lastString()
  const stringOfReset = lastString()
  return {
    fields: [
      limitField,
      remainingField,
      resetField,
      ...(policies === 'own field' ? [policyField] : []),
    ],
    write(access, response, all) {
      const reported = ratesOf(all)
      if (reported.length === 0) return
      const tight = tightest(reported)
      const isRemainingShown = showsRemaining(tight)
      if (
        isRemainingShown
          ? showsLess(access.get(response, remainingField), tight)
          : access.get(response, limitField) !== undefined
      )
        return
      const quota = stringOfQuota(integerItem(tight.limit.burst))
      access.set(
        response,
        limitField,
        policies === 'after the limit' ? `${quota}, ${policyList(reported)}` : quota,
      )
      if (isRemainingShown) {
        access.set(response, remainingField, String(integerItem(tight.remaining)))
        // The epoch is that of this machine's wall clock, which the Date field shows too.
        const instant = resetOf(tight) + (isSinceEpoch ? Date.now() : 0)
        access.set(response, resetField, stringOfReset(secondsItem(instant)))
      }
      if (policies === 'own field') access.set(response, policyField, policyList(reported))
    },
  }
}

/** All but slots, for which these dialects have no word: a client would take them for a rate. */
function ratesOf(reported: readonly ReportedLimit[]): readonly ReportedLimit[] {
  for (const { limit } of reported)
    if (limit.slots === true) return reported.filter((one) => one.limit.slots !== true)
  return reported
}

/**
 * The limit that a client should mind first: a refusal with the longest wait, else the least remaining, else the smallest of
 * those that do not show what remains.
 */
function tightest(reported: readonly ReportedLimit[]): ReportedLimit {
  let tight = reported[0] as ReportedLimit
  for (let i = 1; i < reported.length; i++) {
    const other = reported[i] as ReportedLimit
    if (isTighter(other, tight)) tight = other
  }
  return tight
}

function isTighter(a: ReportedLimit, b: ReportedLimit): boolean {
  if (a.allowed !== b.allowed) return b.allowed
  const isShown = showsRemaining(a)
  if (isShown !== showsRemaining(b)) return isShown
  if (!isShown) return a.limit.burst < b.limit.burst
  if (a.allowed) return a.remaining < b.remaining
  return (a.retryAfter ?? Infinity) > (b.retryAfter ?? Infinity)
}

/** The reset of these dialects: the wait of a refusal, else the time until everything is free. */
function resetOf(reported: ReportedLimit): Millis {
  // Outcomes compute a number when it is read, so read no more than one.
  if (reported.allowed) return reported.resetAfter
  return reported.retryAfter ?? reported.resetAfter
}

/** Whether a response already shows that less is left. */
function showsLess(existing: string | undefined, { remaining }: ReportedLimit): boolean {
  return existing !== undefined && /^\d+$/.test(existing) && Number(existing) < remaining
}

/** `100;w=60, 1000;w=3600`. A quota is listed once: these drafts allow no second policy of the same number. */
function policyList(reported: readonly ReportedLimit[]): string {
  const byQuota = new Map<number, string>()
  for (const { limit } of reported) {
    const quota = integerItem(limit.burst)
    if (!byQuota.has(quota)) byQuota.set(quota, `${quota};w=${windowOf(limit)}`)
  }
  return [...byQuota.values()].join(', ')
}

/** Numbers as strings. Most equal the one before; sending the same string again costs half as much as a new one. */
function lastString(): (value: number) => string {
  let last = 0
  let string = '0'
  return (value) => {
    if (value === last) return string
    last = value
    return (string = String(value))
  }
}
