// The answers for descriptors, and the response that follows from them.
import type { Decision, Limit, Verdict } from 'sluice'
import {
  LARGEST_UINT32,
  OK,
  OVER_LIMIT,
  type Code,
  type CurrentLimit,
  type RateLimitResponse,
} from '../wire/response.ts'
import type { HeaderDialect } from '../../config/envoy-options.ts'
import { headersFor, type Spoken } from './headers.ts'

/** The answer for one descriptor. */
export interface Answer extends Spoken {
  /** Whether the limit has no room, also where it is not enforced. */
  readonly over: boolean
}

/** No limit matched. */
export const NO_LIMIT: Answer = {
  code: OK,
  currentLimit: undefined,
  limitRemaining: 0,
  secondsUntilReset: undefined,
  limit: undefined,
  verdict: undefined,
  over: false,
}

/** A rule matched, and it says that there is no limit. */
export const UNLIMITED: Answer = { ...NO_LIMIT, limitRemaining: LARGEST_UINT32 }

/**
 * The answer of one limit. Its seconds, rounded up: for a limit without room until the same request would be
 * allowed, else until the count is as good as new.
 */
export function answerOf(
  over: boolean,
  shadow: boolean,
  currentLimit: CurrentLimit,
  limit: Limit,
  verdict: Verdict,
): Answer {
  const wait = over ? waitOf(verdict) : verdict.resetAfter
  return {
    code: over && !shadow ? OVER_LIMIT : OK,
    currentLimit,
    limitRemaining: Math.min(verdict.remaining, LARGEST_UINT32),
    secondsUntilReset: Math.ceil(wait / 1000),
    limit,
    verdict,
    over,
  }
}

/** The answer for what an operator has blocked: no limit, only the time that is left. */
export function blockedAnswer({ retryAfter }: Pick<Decision, 'retryAfter'>): Answer {
  const secondsUntilReset = Math.ceil((retryAfter ?? 0) / 1000)
  return { ...NO_LIMIT, code: OVER_LIMIT, secondsUntilReset, over: true }
}

/** Until what was refused would be allowed; a look has asked for one unit. */
function waitOf(verdict: Verdict): number {
  return (verdict.allowed ? verdict.availableAfter : verdict.retryAfter) ?? verdict.resetAfter
}

/** The response of some answers: over the limit when one of them is. */
export function responseOf(
  answers: readonly Answer[],
  dialects: readonly HeaderDialect[],
): RateLimitResponse {
  let overallCode: Code = OK
  let unenforced = 0
  for (const { code, over } of answers) {
    if (code === OVER_LIMIT) overallCode = OVER_LIMIT
    else if (over) unenforced += 1
  }
  return {
    overallCode,
    statuses: answers,
    responseHeaders: headersFor(answers, overallCode, dialects),
    dynamicMetadata: undefined,
    unenforced,
  }
}
