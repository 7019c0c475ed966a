// Decisions in words, for the person on call.
import { show, SluiceError } from '../errors.ts'
import { limitText, type Limit } from '../limit/limit.ts'
import type { Millis } from '../time/clock.ts'
import type { Decision, Outcome, Skipped } from './decision.ts'

/**
 * One sentence per rule, with the numbers, separated by line breaks.
 *
 * @example
 * ```ts
 * console.log(explain(limiter.check('user:42')))
 * // allowed by default: token bucket 100/min: 99 of 100 units left, full in 600 ms
 * ```
 */
export function explain(decision: Decision): string {
  if (!Array.isArray(decision?.outcomes)) {
    throw new SluiceError(
      'invalid-option',
      `explain: decision is ${show(decision)}; accepted: a decision, awaited if it is a promise`,
    )
  }
  const lines = [...decision.outcomes.map(outcomeText), ...decision.skipped.map(skippedText)]
  if (decision.reason === 'blocked')
    lines.unshift(`refused: blocked for another ${waitText(decision.retryAfter ?? 0)}`)
  if (decision.reason === 'no-rule') lines.unshift('allowed: no rule limits this request')
  return lines.join('\n')
}

function outcomeText(outcome: Outcome): string {
  return `${answerOf(outcome)} by ${outcome.rule}: ${limitText(outcome.limit)}: ${roomOf(outcome)}`
}

function answerOf({ allowed, shadow, source, marked }: Outcome): string {
  if (marked === true) return 'marked'
  const answer = allowed ? 'allowed' : shadow ? 'would be refused' : 'refused'
  return `${shadow ? 'shadow: ' : ''}${answer}${source === 'store' || source === 'memory' ? '' : ` (${source})`}`
}

function roomOf({
  allowed,
  remaining,
  cost,
  limit,
  retryAfter,
  resetAfter,
  delay,
  lockedOut,
}: Outcome): string {
  if (!allowed) {
    if (retryAfter === null)
      return `a cost of ${cost} can never fit, the most at once is ${limit.burst}`
    if (lockedOut === true) return `locked out for another ${waitText(retryAfter)}`
    return `${remaining} of ${units(limit)} left, ${cost} needed, free in ${waitText(retryAfter)}`
  }
  const held = delay > 0 ? `, held for ${waitText(delay)}` : ''
  const full = resetAfter > 0 ? `, full in ${waitText(resetAfter)}` : ''
  return `${remaining} of ${units(limit)} left${full}${held}`
}

function skippedText({ rule, missing }: Skipped): string {
  return missing === undefined
    ? `skipped ${rule}: unlimited for this request`
    : `skipped ${rule}: attribute ${missing} is not known`
}

function units({ burst, slots }: Limit): string {
  const unit = slots === true ? 'slot' : 'unit'
  return `${burst} ${burst === 1 ? unit : `${unit}s`}`
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
] as const

/**
 * A wait in at most two units, rounded up, such as `1 min 5 s`.
 *
 * @example
 * ```ts
 * waitText(90_000) // '1 min 30 s'
 * ```
 */
export function waitText(millis: Millis): string {
  if (millis < 1000) return `${millis} ms`
  if (millis <= 59_900) return `${Math.ceil(millis / 100) / 10} s`
  const wait = Math.max(millis, 60_000)
  const [precision] = UNITS[UNITS.findIndex(([size]) => wait >= size) + 1]!
  const rounded = Math.ceil(wait / precision) * precision
  // Rounding may have reached the next larger unit.
  const i = UNITS.findIndex(([size]) => rounded >= size)
  const [[size, unit], [smaller, smallerUnit]] = [UNITS[i]!, UNITS[i + 1]!]
  const rest = (rounded % size) / smaller
  return `${Math.floor(rounded / size)} ${unit}${rest > 0 ? ` ${rest} ${smallerUnit}` : ''}`
}
