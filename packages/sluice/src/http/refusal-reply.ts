// The reply to a refused request: problem details, or what the application makes of them.
import type { Decision } from '../decision/decision.ts'
import type { Millis } from '../time/clock.ts'
import { duration } from '../time/duration.ts'
import { secondsItem } from './headers/structured.ts'
import { isPromise } from '../stores/store.ts'
import { wrong, type CustomReply, type HttpOptions } from './options.ts'
import { problemOf, type ProblemDetails, type RefusalKind } from './problem.ts'

/**
 * A reply that any framework can send.
 *
 * @example
 * ```ts
 * const reply: RefusalReply = { status: 429, fields: [['Retry-After', '3']], body: 'Slow down' }
 * ```
 */
export interface RefusalReply {
  readonly status: number
  readonly fields: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

/** Creates the reply to one request. `wait` is given where the decision does not know it. */
export type ReplyMaker<Q> = (
  kind: RefusalKind,
  request: Q,
  decision: Decision | null,
  wait?: Millis,
) => RefusalReply

/** Creates replies as the options say; `onFailure` receives the error when the application's own problem cannot be sent. */
export function replyMaker<Q>(
  options: HttpOptions<Q, never>,
  onFailure: (error: unknown) => void,
): ReplyMaker<Q> {
  const { unavailableStatus = 503, problem: change, decisionIdHeader } = options
  const spread = options.spread === undefined ? 0 : duration(options.spread)
  const statuses: Readonly<Record<RefusalKind, number>> = {
    'over-limit': 429,
    blocked: 429,
    unavailable: unavailableStatus,
    uncountable: 400,
    broken: 500,
  }

  const bodyOf = (problem: ProblemDetails, request: Q): string => {
    try {
      const changed = change === undefined ? problem : change(problem, request)
      if (isPromise(changed))
        throw wrong('problem returned a promise; accepted: what is sent as JSON')
      return (JSON.stringify(changed) as string | undefined) ?? JSON.stringify(problem)
    } catch (error) {
      onFailure(error)
      return JSON.stringify(problem)
    }
  }

  return (kind, request, decision, wait) => {
    const status = statuses[kind]
    const seconds = retryAfterSeconds(wait ?? waitOf(kind, decision), spread)
    const atOnce = kind === 'over-limit' && decision?.limit?.slots === true
    const problem = problemOf(kind, status, seconds, violatedBy(decision), {
      id: decision?.id,
      atOnce,
    })
    const fields: [string, string][] = [
      ['Content-Type', 'application/problem+json'],
      ['Cache-Control', 'no-store'],
    ]
    if (seconds !== undefined) fields.push(['Retry-After', String(seconds)])
    if (decisionIdHeader !== undefined && decision?.id !== undefined)
      fields.push([decisionIdHeader, decision.id])
    return { status, fields, body: bodyOf(problem, request) }
  }
}

/** How long to wait; null when waiting does not help. */
function waitOf(kind: RefusalKind, decision: Decision | null): Millis | null {
  if (kind === 'over-limit' || kind === 'blocked') return decision?.retryAfter ?? null
  // When the store will be back is unknown; 0 becomes one second.
  return kind === 'unavailable' ? (decision?.retryAfter ?? 0) : null
}

/** The rules that refused or would hold the request too long, without hidden ones. */
function violatedBy(decision: Decision | null): readonly string[] {
  if (decision === null) return []
  return decision.outcomes
    .filter(({ allowed, shadow, hidden, delay }) => !shadow && !hidden && (!allowed || delay > 0))
    .map(({ rule }) => rule)
}

/**
 * The value of Retry-After: whole seconds, at least 1, never before the wait is over; up to `spread` later at random,
 * so that clients that were refused together do not return together. Undefined when the request can never be allowed.
 *
 * @example
 * ```ts
 * retryAfterSeconds(1500) // 2
 * ```
 */
export function retryAfterSeconds(wait: Millis | null, spread: Millis = 0): number | undefined {
  if (wait === null) return undefined
  const later = spread === 0 ? 0 : Math.random() * spread
  return Math.max(1, secondsItem(wait + later))
}

/** The reply with the application's changes. Throws when the body cannot be written as JSON. */
export function customized(reply: RefusalReply, custom: CustomReply): RefusalReply {
  const { status = reply.status, headers = {}, body } = custom
  const changed = new Map(reply.fields.map((field) => [field[0].toLowerCase(), field]))
  if (body !== undefined) {
    const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json'
    changed.set('content-type', ['Content-Type', type])
  }
  for (const [name, value] of Object.entries(headers))
    changed.set(name.toLowerCase(), [name, String(value)])
  const text =
    body === undefined ? reply.body : typeof body === 'string' ? body : JSON.stringify(body)
  return { status, fields: [...changed.values()], body: text }
}
