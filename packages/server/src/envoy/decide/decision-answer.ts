// The answer for a descriptor that a policy has decided: its binding rule, in a unit of the protocol.
import type { Decision } from 'sluice'
import { rateInUnits } from '../descriptors/unit.ts'
import { currentLimit, type CurrentLimit } from '../wire/response.ts'
import { answerOf, blockedAnswer, NO_LIMIT, type Answer } from './answer.ts'

/** The binding rule speaks for all rules of its descriptor. */
export function answerFor(decision: Decision): Answer {
  const outcome = decision.outcomes.find(({ rule }) => rule === decision.rule)
  if (outcome === undefined) return decision.allowed ? NO_LIMIT : blockedAnswer(decision)
  const { rule, limit, shadow } = outcome
  const shown = shownFor(rule, limit.quota, limit.window)
  return answerOf(!decision.allowed, shadow, shown, limit, outcome)
}

/** Beyond this many, which only overrides by the thousand can bring about, limits are shown without being kept. */
const MOST_SHOWN = 10_000
const shown = new Map<string, CurrentLimit>()

function shownFor(rule: string, quota: number, window: number): CurrentLimit {
  const id = `${quota}/${window} ${rule}`
  const found = shown.get(id)
  if (found !== undefined) return found
  const { requests, unit } = rateInUnits(quota, window)
  const made = currentLimit(rule, requests, unit.number)
  if (shown.size < MOST_SHOWN) shown.set(id, made)
  return made
}
