// Decisions in words, for the person on call.
import { limitText } from '../limit/limit.ts'
import { durationText } from '../time/duration.ts'
import type { Decision, Outcome, Skipped } from './decision.ts'

/** One sentence per rule, with the numbers, separated by line breaks. */
export function explain(decision: Decision): string {
  const lines = [...decision.outcomes.map(outcomeText), ...decision.skipped.map(skippedText)]
  if (decision.reason === 'no-rule') lines.unshift('allowed: no rule speaks for this request')
  return lines.join('\n')
}

function outcomeText(outcome: Outcome): string {
  return `${answerOf(outcome)} by ${outcome.rule}: ${limitText(outcome.limit)}: ${roomOf(outcome)}`
}

function answerOf({ allowed, shadow, source }: Outcome): string {
  const answer = allowed ? 'allowed' : shadow ? 'would be refused' : 'refused'
  return `${shadow ? 'shadow: ' : ''}${answer}${source === 'store' ? '' : ` (${source})`}`
}

function roomOf({
  allowed,
  remaining,
  cost,
  limit,
  retryAfter,
  resetAfter,
  delay,
}: Outcome): string {
  if (!allowed) {
    if (retryAfter === null)
      return `a cost of ${cost} can never fit, the most at once is ${limit.burst}`
    return `${remaining} of ${units(cost)} left, next in ${waitText(retryAfter)}`
  }
  const held = delay > 0 ? `, held for ${waitText(delay)}` : ''
  return `${remaining} of ${units(limit.burst)} left, full in ${waitText(resetAfter)}${held}`
}

function skippedText({ rule, missing }: Skipped): string {
  return missing === undefined
    ? `skipped ${rule}: unlimited for this request`
    : `skipped ${rule}: attribute ${missing} is not known`
}

function units(count: number): string {
  return `${count} ${count === 1 ? 'unit' : 'units'}`
}

function waitText(millis: number): string {
  if (millis < 1000) return `${millis} ms`
  if (millis < 60_000) return `${Math.ceil(millis / 100) / 10} s`
  return durationText(Math.ceil(millis / 1000) * 1000)
}
