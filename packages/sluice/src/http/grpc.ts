// Rate limiting for gRPC servers on grpc-js, as an interceptor.
import { createRequestGuard, type RateLimitOptions } from './create-request-guard.ts'
import { responderOf } from './grpc-flow.ts'
import { grpcAdapter, type GrpcCall, type GrpcMetadata, type GrpcRequest } from './grpc-adapter.ts'
import type { AnyLimiter, HttpOptions } from './options.ts'

export type { GrpcCall, GrpcMetadata, GrpcRequest } from './grpc-adapter.ts'

/** An interceptor of a server, making calls of its class. */
export type GrpcInterceptor<C> = (method: { readonly path: string }, call: GrpcCall) => C

/**
 * Limits calls: `new Server({ interceptors: [rateLimit(ServerInterceptingCall, { limit: '100/min' })] })`. The
 * class is grpc-js's own, which the library does not import. In `after`, the status is the code of gRPC.
 */
export function rateLimit<C>(
  ServerInterceptingCall: new (call: never, responder: never) => C,
  limiter: AnyLimiter | RateLimitOptions<GrpcRequest, GrpcMetadata>,
  options?: HttpOptions<GrpcRequest, GrpcMetadata>,
): GrpcInterceptor<C> {
  const guard = createRequestGuard(grpcAdapter, limiter, options)
  const { spread } = { ...(limiter as HttpOptions<GrpcRequest>), ...options }
  return ({ path }, call) => {
    const responder = responderOf(guard, path, call, spread !== undefined)
    return new ServerInterceptingCall(call as never, responder as never)
  }
}
