// From the outcomes of one descriptor to its status.
import type { Millis, VisibleOutcome } from 'sluice'
import { rateInUnits } from '../descriptors/unit.ts'
import {
  currentLimit,
  MAX_UINT32,
  OK,
  OVER_LIMIT,
  type CurrentLimit,
  type DescriptorStatus,
} from '../wire/response.ts'
import type { DescriptorChecks } from './descriptor-checks.ts'

/** The status of one descriptor, with the outcome that it shows. */
export interface DescriptorAnswer extends DescriptorStatus {
  /** Whether the limit has no room, also where it is not enforced. */
  readonly isOver: boolean
  /** Undefined when no limit applied. */
  readonly outcome: VisibleOutcome | undefined
}

/** No limit applied. */
export const NO_LIMIT: DescriptorAnswer = {
  code: OK,
  currentLimit: undefined,
  limitRemaining: 0,
  secondsUntilReset: undefined,
  isOver: false,
  outcome: undefined,
}

/** A rule matched that sets no limit. */
const UNLIMITED: DescriptorAnswer = { ...NO_LIMIT, limitRemaining: MAX_UINT32 }

/**
 * The answer of a descriptor: its binding limit, found among `outcomes` from `start` on. The seconds are rounded up; for a
 * limit without room they last until the same request would be allowed, else until the count is as good as new.
 * `shows` is the place of the outcome that says what is left, for one at a place; by default itself.
 */
export function answerOf(
  { checks, isUnlimited }: DescriptorChecks,
  outcomes: readonly VisibleOutcome[],
  start: number,
  shows: readonly number[] | undefined,
): DescriptorAnswer {
  if (checks.length === 0) return isUnlimited ? UNLIMITED : NO_LIMIT
  const place = bindingOf(outcomes, start, start + checks.length)
  const outcome = outcomes[place]!
  const { allowed, shadow } = outcome
  const wait = allowed ? outcome.resetAfter : (outcome.retryAfter ?? outcome.resetAfter)
  return {
    code: allowed || shadow ? OK : OVER_LIMIT,
    currentLimit: checks[place - start]!.shown ?? shownLimit(outcome),
    limitRemaining: Math.min(outcomes[shows?.[place] ?? place]!.remaining, MAX_UINT32),
    secondsUntilReset: Math.ceil(wait / 1000),
    isOver: !allowed,
    outcome,
  }
}

/** The answer for attributes that an operator has blocked: no limit, only the time that is left. */
export function blockedAnswer(left: Millis): DescriptorAnswer {
  return { ...NO_LIMIT, code: OVER_LIMIT, secondsUntilReset: Math.ceil(left / 1000), isOver: true }
}

/** The place of the binding outcome; one in shadow only when there is no other. */
function bindingOf(outcomes: readonly VisibleOutcome[], start: number, end: number): number {
  let binding = start
  for (let i = start + 1; i < end; i++) if (isTighter(outcomes[i]!, outcomes[binding]!)) binding = i
  return binding
}

/** Enforced before shadow, refusing before allowing; among refusals the longer wait, else the less remaining. */
function isTighter(a: VisibleOutcome, b: VisibleOutcome): boolean {
  if (a.shadow !== b.shadow) return b.shadow
  if (a.allowed !== b.allowed) return b.allowed
  if (a.allowed) return a.remaining < b.remaining
  return (a.retryAfter ?? Infinity) > (b.retryAfter ?? Infinity)
}

/** Limits beyond this number, which only thousands of overrides bring about, are shown without being kept. */
const MAX_SHOWN = 10_000
const shown = new Map<string, CurrentLimit>()

/** The limit of a rule of a policy, in a unit of the protocol. */
function shownLimit({ rule, limit: { quota, window } }: VisibleOutcome): CurrentLimit {
  const id = `${quota}/${window} ${rule}`
  const found = shown.get(id)
  if (found !== undefined) return found
  const { requests, unit } = rateInUnits(quota, window)
  const made = currentLimit(rule, requests, unit.number)
  if (shown.size < MAX_SHOWN) shown.set(id, made)
  return made
}
