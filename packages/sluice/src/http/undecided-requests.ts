// Handles a request whose check failed: lets it through uncounted or refuses it, and reports the reason.
import type { Decision, Outcome } from '../decision/decision.ts'
import { show, SluiceError } from '../errors.ts'
import { Admission, type Settler } from './admission.ts'
import { wrong } from './options.ts'
import type { RefusalKind } from './problem.ts'
import type { ReplyMaker } from './refusal-reply.ts'
import type { Warn } from './warnings.ts'

/** Admits or refuses the requests of one guard that it could not decide about. */
export class UndecidedRequests<Q> {
  /** The admission of every request that passes uncounted. */
  readonly uncounted: Admission
  private readonly guard: Settler
  private readonly replyTo: ReplyMaker<Q>
  private readonly isClosed: boolean
  private readonly warn: Warn

  constructor(guard: Settler, replyTo: ReplyMaker<Q>, isClosed: boolean, warn: Warn) {
    this.uncounted = new Admission(guard, null, '', 0, undefined)
    this.guard = guard
    this.replyTo = replyTo
    this.isClosed = isClosed
    this.warn = warn
  }

  /** A refusal that no limit made. */
  refuse(kind: RefusalKind, request: Q, decision: Decision | null = null): Admission {
    const admission = new Admission(this.guard, decision, '', 0, undefined)
    admission.refusal = this.replyTo(kind, request, decision)
    return admission
  }

  /** The limiter could not answer: the request passes or not, by the failure mode. */
  byFailure(request: Q, error: unknown): Admission {
    this.failed('the limiter', error)
    // Errors that the request caused must not be a way past the limit.
    if (isFaultOfRequest(error)) return this.refuse('uncountable', request)
    return this.isClosed ? this.refuse('unavailable', request) : this.uncounted
  }

  /** A limiter may be anything with a check method. Its mistakes must not end the process or let refusals pass. */
  byIncompleteDecision(request: Q, decision: unknown): Admission {
    const isRefusal = (decision as Partial<Decision> | null | undefined)?.allowed === false
    const error = wrong(`the limiter returned half a decision, ${show(decision)}`)
    if (!isRefusal) return this.byFailure(request, error)
    this.failed('the limiter', error)
    return this.refuse('unavailable', request)
  }

  /** The request could not be read, or a function of the application failed: to let it pass uncounted would be a bypass. */
  unreadable(request: Q, error: unknown): Admission {
    if (isFaultOfRequest(error)) {
      this.warn('request-refused', () => messageOf(error), error)
      return this.refuse('uncountable', request)
    }
    this.failed('a function given to rateLimit', error)
    const admission = this.refuse('broken', request)
    admission.error = error ?? new Error('a function given to rateLimit threw nothing')
    return admission
  }

  private failed(what: string, error: unknown): void {
    warnOfFailure(this.warn, what, error)
  }
}

/** Reports what failed: the limiter, or a function of the application. */
export function warnOfFailure(warn: Warn, what: string, error: unknown): void {
  warn('limiter-failed', () => `${what} failed: ${messageOf(error)}`, error)
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : show(error)
}

/** Codes of errors about what a request says of itself. */
const FAULTS_OF_REQUESTS: ReadonlySet<string> = new Set([
  'invalid-key',
  'invalid-attributes',
  'invalid-cost',
])

function isFaultOfRequest(error: unknown): boolean {
  return error instanceof SluiceError && FAULTS_OF_REQUESTS.has(error.code)
}

/** Whether a value that a limiter returned has all that replies and header fields need. */
export function isCompleteDecision(decision: unknown): decision is Decision {
  if (typeof decision !== 'object' || decision === null) return false
  if (typeof (decision as Decision).allowed !== 'boolean') return false
  const { outcomes } = decision as { outcomes: unknown }
  return Array.isArray(outcomes) && outcomes.every(isCompleteOutcome)
}

function isCompleteOutcome(outcome: unknown): boolean {
  if (typeof outcome !== 'object' || outcome === null) return false
  const { rule, limit, remaining } = outcome as Partial<Outcome>
  return (
    typeof rule === 'string' &&
    typeof limit === 'object' &&
    limit !== null &&
    typeof remaining === 'number'
  )
}
