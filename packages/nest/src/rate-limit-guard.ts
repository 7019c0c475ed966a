// The guard: decides about each request, and throws for refused ones.
import type { CanActivate, ExecutionContext } from '@nestjs/common'
import { Reflector } from '@nestjs/core'
import {
  createRequestGuard,
  holdUntilClosed,
  type Admission,
  type AnyBudget,
  type AnyLimiter,
  type HttpOptions,
  type RateLimitOptions,
  type RefusalAction,
  type RequestGuard,
} from 'sluice/http'
import { exceptionOf } from './exception.ts'
import {
  nestAdapter,
  rawResponse,
  sendText,
  type NestRequest,
  type NestResponse,
} from './nest-adapter.ts'

/** The metadata of `@Cost`: units per request. */
export const COST = 'sluice:cost'
/** The metadata of `@SkipRateLimit`: whether requests go on uncounted. */
export const SKIP = 'sluice:skip'

const reflector = new Reflector()
/** The `@Cost` of the method that a request is for. */
const costs = new WeakMap<object, number>()

/** Limits requests: `app.useGlobalGuards(rateLimit({ limit: '100/min' }))`, or as a provider of `APP_GUARD`. */
export function rateLimit<Q extends NestRequest, S extends NestResponse>(
  limiter: AnyLimiter | AnyBudget | RateLimitOptions<Q, S>,
  options?: HttpOptions<Q, S>,
): RateLimitGuard<Q, S> {
  return new RateLimitGuard(limiter, options)
}

/** Counts requests over HTTP. Others, such as those of a WebSocket or GraphQL, go on uncounted, with one warning. */
export class RateLimitGuard<
  Q extends NestRequest = NestRequest,
  S extends NestResponse = NestResponse,
> implements CanActivate {
  private readonly guard: RequestGuard<Q, S>

  constructor(
    limiter: AnyLimiter | AnyBudget | RateLimitOptions<Q, S>,
    options?: HttpOptions<Q, S>,
  ) {
    const { cost } = { ...(limiter as HttpOptions<Q, S>), ...options }
    const costOf = (request: Q): number =>
      costs.get(request) ??
      (typeof cost === 'function' ? cost(request) : (cost ?? this.guard.defaultCost))
    this.guard = createRequestGuard<Q, S>(nestAdapter, limiter, { ...options, cost: costOf })
  }

  /** Returns true to go on; throws {@link RateLimitException} to refuse. */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (context.getType() !== 'http') {
      const kind: string = context.getType()
      this.guard.warn(
        'kind-uncounted',
        () => `requests of the kind ${kind} go on uncounted; rateLimit counts requests over HTTP`,
      )
      return true
    }
    const targets = [context.getHandler(), context.getClass()]
    if (reflector.getAllAndOverride<boolean | undefined>(SKIP, targets) === true) return true
    const http = context.switchToHttp()
    const request = http.getRequest<Q>()
    const response = http.getResponse<S>()
    const cost = reflector.getAllAndOverride<number | undefined>(COST, targets)
    if (cost !== undefined) costs.set(request, cost)
    const admission = this.guard.enter(request, response)
    if ('then' in admission)
      return admission.then((admission) => this.proceed(admission, request, response))
    return this.proceed(admission, request, response)
  }

  private proceed(admission: Admission, request: Q, response: S): boolean | Promise<boolean> {
    if (admission.refusal !== null) {
      const action = this.guard.refuse(admission, request, response)
      if ('then' in action) return action.then((action) => refuse(action, admission, response))
      return refuse(action, admission, response)
    }
    const { delay } = admission
    const raw = rawResponse(response)
    this.guard.watch(admission, raw, request, response)
    if (delay === 0) return true
    return new Promise((resolve) =>
      holdUntilClosed(
        delay,
        raw,
        () => resolve(true),
        () => resolve(false),
      ),
    )
  }
}

/** Throws what Nest is to answer. A response that `onRefused` has sent is left alone by Nest. */
function refuse(
  action: RefusalAction,
  { decision, refusal }: Admission,
  response: NestResponse,
): never {
  if (action.type === 'error') throw action.error
  const reply = action.type === 'handled' ? refusal! : action.reply
  if (rawResponse(response).headersSent)
    throw exceptionOf({ ...reply, fields: [] }, decision, response)
  const exception = exceptionOf(reply, decision, response)
  // Nest would wrap a string into JSON, whatever its content type says.
  if (typeof exception.getResponse() === 'string') sendText(response, reply.status, reply.body)
  throw exception
}
