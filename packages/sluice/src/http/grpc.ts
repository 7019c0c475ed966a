// Rate limiting for gRPC servers on grpc-js, as an interceptor.
import type { Admission } from './admission.ts'
import { createRequestGuard, type RateLimitOptions } from './create-request-guard.ts'
import {
  grpcAdapter,
  GrpcRequest,
  type GrpcCall,
  type GrpcMetadata,
  type GrpcStatus,
} from './grpc-adapter.ts'
import { statusOf } from './grpc-status.ts'
import { hold } from './hold.ts'
import { isPromise } from '../stores/store.ts'
import type { AnyBudget } from './held-requests.ts'
import type { AnyLimiter, HttpOptions } from './options.ts'
import type { RefusalAction } from './refusal-action.ts'
import type { RequestGuard } from './request-guard.ts'

export type { GrpcCall, GrpcMetadata, GrpcRequest } from './grpc-adapter.ts'

/**
 * An interceptor of a server, which creates calls of its class.
 *
 * @example
 * ```ts
 * const limit: GrpcInterceptor<ServerInterceptingCall> = rateLimit(ServerInterceptingCall, limiter)
 * ```
 */
export type GrpcInterceptor<C> = (method: { readonly path: string }, call: GrpcCall) => C

/**
 * Limits calls: `new Server({ interceptors: [rateLimit(ServerInterceptingCall, { limit: '100/min' })] })`. The
 * class is grpc-js's own, which the library does not import. In `after`, the status is gRPC's code.
 *
 * @example
 * ```ts
 * const limit = rateLimit(ServerInterceptingCall, { limit: '100/min' })
 * const server = new Server({ interceptors: [limit] })
 * ```
 */
export function rateLimit<C>(
  ServerInterceptingCall: new (call: never, responder: never) => C,
  limiter: AnyLimiter | AnyBudget | RateLimitOptions<GrpcRequest, GrpcMetadata>,
  options?: HttpOptions<GrpcRequest, GrpcMetadata>,
): GrpcInterceptor<C> {
  const guard = createRequestGuard(grpcAdapter, limiter, options)
  const { spread } = { ...(limiter as HttpOptions<GrpcRequest>), ...options }
  return ({ path }, call) => {
    const responder = responderOf(guard, path, call, spread !== undefined)
    return new ServerInterceptingCall(call as never, responder as never)
  }
}

/** What is used of grpc-js's `ServerListener`: what comes from the client. */
interface Listener {
  onReceiveMetadata(metadata: GrpcMetadata, next: (metadata: GrpcMetadata) => void): void
  onCancel(): void
}

/** What is used of grpc-js's `Responder`: what goes to the client. */
interface Responder {
  start(next: (listener: Listener) => void): void
  sendMetadata(metadata: GrpcMetadata, next: (metadata: GrpcMetadata) => void): void
  sendStatus(status: GrpcStatus, next: (status: GrpcStatus) => void): void
}

/** The code of a status without one. */
const UNKNOWN = 2

/** The hooks of one call. They run the guard when the call comes, then refuse it, hold it or call the handler. */
function responderOf(
  guard: RequestGuard<GrpcRequest, GrpcMetadata>,
  path: string,
  call: GrpcCall,
  isSpread: boolean,
): Responder {
  let request: GrpcRequest | null = null
  let admission: Admission | null = null
  let sent: GrpcMetadata | null = null
  let isOver = false
  let stopWaiting: (() => void) | null = null

  const proceed = (entered: Admission, request: GrpcRequest, next: () => void): void => {
    if (isOver) return guard.unanswered(entered)
    admission = entered
    if (entered.refusal !== null) refuse(entered, request)
    else if (entered.delay === 0) next()
    else stopWaiting = hold(entered.delay, next)
  }
  const refuse = (entered: Admission, request: GrpcRequest): void => {
    const trailers = emptyLike(request.metadata)
    const finish = (action: RefusalAction): void => {
      if (isOver || action.type === 'handled') return
      guard.write(entered, trailers)
      call.sendStatus(statusOf(action.reply, entered, isSpread, trailers) as never)
    }
    const action = guard.refuse(entered, request, trailers)
    if (isPromise(action)) void action.then(finish)
    else finish(action)
  }

  return {
    start: (next) =>
      next({
        onReceiveMetadata(metadata, next) {
          const received = (request = new GrpcRequest(path, metadata, call))
          const onEntered = (entered: Admission): void =>
            proceed(entered, received, () => next(metadata))
          const entered = guard.enter(received, null)
          if (isPromise(entered)) void entered.then(onEntered)
          else onEntered(entered)
        },
        onCancel() {
          isOver = true
          stopWaiting?.()
          if (admission !== null) guard.unanswered(admission)
        },
      }),
    // The application may send the same metadata object with every call, so a copy takes the fields.
    sendMetadata(metadata, next) {
      sent = metadata.clone()
      if (admission !== null) guard.write(admission, sent)
      next(sent)
    },
    sendStatus(status, next) {
      if (request !== null && admission !== null && !isOver) {
        // A call that ends before it sent anything has trailers only.
        const response = sent ?? status.metadata?.clone() ?? emptyLike(request.metadata)
        if (sent === null) {
          guard.write(admission, response)
          status.metadata = response
        }
        if (guard.hasAfter) guard.answered(admission, status.code ?? UNKNOWN, request, response)
      }
      next(status)
    },
  }
}

/** Empty metadata of the same class, which the library does not import. */
function emptyLike(metadata: GrpcMetadata): GrpcMetadata {
  return new (metadata.constructor as new () => GrpcMetadata)()
}
