// The guard: asks for each request, and throws when it is refused.
import type { CanActivate, ExecutionContext } from '@nestjs/common'
import { Reflector } from '@nestjs/core'
import {
  createRequestGuard,
  type AnyLimiter,
  type RequestGuard,
  type HttpOptions,
  type Admission,
  type RateLimitOptions,
} from 'sluice/http'
import { exceptionOf } from './exception.ts'
import { heldUntil, whenAnswered } from './flow.ts'
import { COST, SKIP } from './marks.ts'
import { nestAdapter, rawResponse, type NestRequest, type NestResponse } from './nest-adapter.ts'

const marks = new Reflector()
/** What `@Cost` says of the method that a request is for. */
const costs = new WeakMap<object, number>()

/** Counts requests over HTTP. Whatever comes another way, such as by WebSocket, goes on uncounted. */
export class RateLimitGuard<
  Q extends NestRequest = NestRequest,
  S extends NestResponse = NestResponse,
> implements CanActivate {
  private readonly guard: RequestGuard<Q, S>

  constructor(limiter: AnyLimiter | RateLimitOptions<Q, S>, options?: HttpOptions<Q, S>) {
    const { cost } = { ...(limiter as HttpOptions<Q, S>), ...options }
    const costOf = (request: Q): number =>
      costs.get(request) ?? (typeof cost === 'function' ? cost(request) : (cost ?? 1))
    this.guard = createRequestGuard<Q, S>(nestAdapter, limiter, { ...options, cost: costOf })
  }

  /** Goes on with true; throws {@link RateLimitException} to refuse. */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (context.getType() !== 'http') return true
    const targets = [context.getHandler(), context.getClass()]
    if (marks.getAllAndOverride<boolean | undefined>(SKIP, targets) === true) return true
    const http = context.switchToHttp()
    const request = http.getRequest<Q>()
    const response = http.getResponse<S>()
    const cost = marks.getAllAndOverride<number | undefined>(COST, targets)
    if (cost !== undefined) costs.set(request, cost)
    const admission = this.guard.enter(request, response)
    if ('then' in admission)
      return admission.then((admission) => this.proceed(admission, request, response))
    return this.proceed(admission, request, response)
  }

  private proceed(admission: Admission, request: Q, response: S): boolean | Promise<boolean> {
    const { refusal, delay, decision } = admission
    if (refusal !== null) throw exceptionOf(refusal, decision, response)
    const raw = rawResponse(response)
    if (this.guard.hasAfter)
      whenAnswered(raw, () => this.guard.answered(admission, raw.statusCode, request, response))
    return delay === 0 ? true : heldUntil(delay, raw)
  }
}
