// Reads the lockout of a rule, and makes the limit that its count is kept by.
import { joinWithLengths } from '../key/key.ts'
import type { Limit } from '../limit/limit.ts'
import type { Millis } from '../time/clock.ts'
import { DURATION_FORMS, tryDuration } from '../time/duration.ts'
import { LOCKOUT_FIELDS } from './fields.ts'
import type { Lockout } from './policy.ts'
import { at, readFields, addWrongValue, type Problems } from './reading.ts'

const DAY: Millis = 86_400_000
/** The longest lock: a hundred years. */
const MAX_LOCK: Millis = 36_525 * DAY
/** The most refusals before a lock, and the largest factor between two. */
const MAX_AFTER = 1_000_000
const MAX_GROW = 1000

/** The lockout in full; undefined, with every mistake noted, when it is not one. */
export function readLockout(problems: Problems, path: string, value: unknown): Lockout | undefined {
  const before = problems.length
  const fields = readFields(problems, path, value, LOCKOUT_FIELDS, 'an object with after and for')
  if (fields === undefined) return undefined
  const whole = (name: keyof Lockout, most: number): number | undefined => {
    const found = fields.get(name)
    if (found === undefined && name === 'grow') return 1
    if (Number.isSafeInteger(found) && (found as number) >= 1 && (found as number) <= most)
      return found as number
    addWrongValue(problems, at(path, name), found, `a whole number from 1 to ${most}`)
    return undefined
  }
  const time = (name: keyof Lockout): Millis | undefined => {
    const found = fields.get(name)
    if (found === undefined && name !== 'for') return undefined
    const millis = tryDuration(found)
    if (millis !== undefined && millis <= MAX_LOCK) return millis
    addWrongValue(problems, at(path, name), found, `${DURATION_FORMS}, at most 100 years`)
    return undefined
  }
  const [after, grow] = [whole('after', MAX_AFTER), whole('grow', MAX_GROW)]
  const [first, longest, within] = [time('for'), time('upTo'), time('within')]
  if (first !== undefined && longest !== undefined && longest < first)
    addWrongValue(
      problems,
      at(path, 'upTo'),
      fields.get('upTo'),
      'a duration that is not below for',
    )
  if (problems.length > before || after === undefined || grow === undefined || first === undefined)
    return undefined
  const upTo = longest ?? (grow === 1 ? first : Math.max(first, DAY))
  return Object.freeze({ after, for: first, grow, upTo, ...(within !== undefined && { within }) })
}

/** The limit and the space of a lockout's count; `names` are those of the rule's space. */
export function placeLockout(
  lockout: Lockout,
  window: Millis,
  names: (kind: string, window: string) => readonly string[],
): { readonly space: string; readonly limit: Limit } {
  const { after, grow = 1 } = lockout
  const [first, longest, within] = [lockout.for, lockout.upTo, lockout.within].map((text) =>
    text === undefined ? undefined : tryDuration(text),
  )
  const limit: Limit = {
    algorithm: 'fixed-window',
    quota: after,
    window: within ?? window,
    burst: after,
    lockFor: first!,
    lockGrow: grow,
    lockUpTo: longest ?? first!,
  }
  // Another number of refusals reads the count differently, so it has a count of its own.
  return { limit, space: joinWithLengths(names(`lockout:${after}`, String(limit.window))) }
}
