// What one caller may hold of a count that several callers share: never all of it, so that a caller who never settles cannot shut out the others.
import type { RuleCheck } from '../decision/lazy-decision.ts'
import { attributeText, joinWithLengths, keyOf } from '../key/key.ts'
import type { Limit } from '../limit/limit.ts'
import type { Verdict } from '../limit/verdict.ts'
import type { Attributes, RuleInCode } from '../policy/policy.ts'
import type { Check } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'

/** The part of the limit that a reservation, and a caller, holds at most, unless the rule says another. */
const HOLD_SHARE = 0.5
/** The attributes that identify a caller; the first known one counts. An address may belong to many callers. */
const CALLERS = ['user', 'apiKey'] as const

/** The check of a reservation, with that of what its caller holds in all. */
export interface SharedCheck extends RuleCheck {
  readonly share?: Check
}

/** Units that one reservation, and one caller, may hold under a limit. */
export function shareOf({ burst }: Limit, { holdShare = HOLD_SHARE }: RuleInCode): number {
  return Math.max(1, Math.floor(burst * holdShare))
}

/** The limits of what callers hold, by the rule and its limit: requests of one shape have the same limit object. */
const limits = new WeakMap<RuleInCode, WeakMap<Limit, Limit>>()

/**
 * Where the units that a caller holds are counted beside those of a check; undefined when the count is the caller's own,
 * or the caller is not known.
 */
export function placeOfShare(
  { space, key, limit, shadow }: RuleCheck,
  rule: RuleInCode,
  attributes: Attributes,
  hashKeys: boolean,
): Pick<Check, 'space' | 'key' | 'limit'> | undefined {
  if (shadow === true || CALLERS.some((name) => rule.by.includes(name))) return undefined
  const caller = callerIn(attributes)
  if (caller === undefined) return undefined
  return {
    space: space + joinWithLengths(['callers']),
    key: keyOf([key, keyOf([caller], hashKeys)]),
    limit: shareLimit(limit, rule),
  }
}

function callerIn(attributes: Attributes): string | undefined {
  for (const name of CALLERS) {
    const value = attributeText(attributes, name)
    if (value !== undefined) return `${name} ${value}`
  }
  return undefined
}

/** Units out at once; nothing is ever spent, so the window has no effect. */
function shareLimit(limit: Limit, rule: RuleInCode): Limit {
  const known = limits.get(rule) ?? new WeakMap<Limit, Limit>()
  limits.set(rule, known)
  let made = known.get(limit)
  if (made === undefined) {
    const quota = shareOf(limit, rule)
    made = { algorithm: 'fixed-window', quota, window: rule.hold as Millis, burst: quota }
    known.set(limit, made)
  }
  return made
}

/** The checks, each with a share followed by that of its share. */
export function withCallerShares(checks: readonly SharedCheck[]): readonly Check[] {
  if (!checks.some(({ share }) => share !== undefined)) return checks
  return checks.flatMap((check) => (check.share === undefined ? [check] : [check, check.share]))
}

/** The verdicts of the checks: one whose share is refused is refused. */
export function mergeShares(
  checks: readonly SharedCheck[],
  verdicts: readonly Verdict[],
): readonly Verdict[] {
  if (verdicts.length === checks.length) return verdicts
  let next = 0
  return checks.map(({ share }) => {
    const own = verdicts[next++]!
    if (share === undefined) return own
    const ofCaller = verdicts[next++]!
    return ofCaller.allowed || ofCaller.source === 'closed' ? own : refused(own, ofCaller)
  })
}

function refused(own: Verdict, ofCaller: Verdict): Verdict {
  const { at, source, cause } = own
  return {
    allowed: false,
    remaining: Math.min(own.remaining, ofCaller.remaining),
    retryAfter:
      own.retryAfter === null || ofCaller.retryAfter === null
        ? null
        : Math.max(own.retryAfter, ofCaller.retryAfter),
    resetAfter: Math.max(own.resetAfter, ofCaller.resetAfter),
    availableAfter: Math.max(own.availableAfter, ofCaller.availableAfter),
    delay: 0,
    at,
    source,
    ...(cause !== undefined && { cause }),
  }
}
