// The reply to a request that is not let through.
import type { Decision } from '../decision/decision.ts'
import { duration } from '../time/duration.ts'
import { wrong, type HttpOptions } from './options.ts'
import { retryAfterSeconds } from './headers/dialect.ts'
import { problemOf, type RefusalKind, type ProblemDetails } from './problem.ts'
import { isPromise } from '../stores/store.ts'

/** A reply that any framework can send. */
export interface RefusalReply {
  readonly status: number
  readonly fields: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

/** Makes replies as the options have it; `failed` hears when the application's own problem cannot be sent. */
export function replyMaker<Q>(
  options: HttpOptions<Q, never>,
  failed: (error: unknown) => void,
): ReplyMaker<Q> {
  const { unavailableStatus = 503, problem: change } = options
  const spread = options.spread === undefined ? 0 : duration(options.spread)
  const statuses = {
    'over-limit': 429,
    blocked: 429,
    unavailable: unavailableStatus,
    uncountable: 400,
    broken: 500,
  }

  const bodyOf = (problem: ProblemDetails, request: Q): string => {
    try {
      const changed = change === undefined ? problem : change(problem, request)
      if (isPromise(changed)) throw wrong('problem gave a promise; accepted: what is sent as JSON')
      return (JSON.stringify(changed) as string | undefined) ?? JSON.stringify(problem)
    } catch (error) {
      failed(error)
      return JSON.stringify(problem)
    }
  }

  return (kind, request, decision) => {
    const status = statuses[kind]
    const waits = kind === 'over-limit' || kind === 'blocked' || kind === 'unavailable'
    // Nobody knows when a store is back; a second is soon, and never 0.
    const wait =
      kind === 'unavailable' ? (decision?.retryAfter ?? 0) : (decision?.retryAfter ?? null)
    const seconds = waits ? retryAfterSeconds(wait, spread) : undefined
    const problem = problemOf(kind, status, seconds, violatedBy(decision))
    const fields: [string, string][] = [
      ['Content-Type', 'application/problem+json'],
      ['Cache-Control', 'no-store'],
    ]
    if (seconds !== undefined) fields.push(['Retry-After', String(seconds)])
    return { status, fields, body: bodyOf(problem, request) }
  }
}

/** Makes the reply to one request. */
export type ReplyMaker<Q> = (
  kind: RefusalKind,
  request: Q,
  decision: Decision | null,
) => RefusalReply

/** The rules that refused, without those that must not be named. */
function violatedBy(decision: Decision | null): readonly string[] {
  if (decision === null) return []
  return decision.outcomes
    .filter(({ allowed, shadow, hidden }) => !allowed && !shadow && !hidden)
    .map(({ rule }) => rule)
}
