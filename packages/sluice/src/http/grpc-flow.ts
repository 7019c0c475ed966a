// How a call of gRPC goes on, or not: the hooks of one call, as grpc-js calls them.
import { GrpcRequest, type GrpcCall, type GrpcMetadata, type GrpcStatus } from './grpc-adapter.ts'
import { statusOf } from './grpc-status.ts'
import type { RequestGuard } from './request-guard.ts'
import { hold } from './hold.ts'
import type { Admission } from './admission.ts'
import { isPromise } from '../stores/store.ts'

/** What is used of grpc-js's `ServerListener`: what comes from the client. */
interface Listener {
  onReceiveMetadata(metadata: GrpcMetadata, next: (metadata: GrpcMetadata) => void): void
  onCancel(): void
}

/** What is used of grpc-js's `Responder`: what goes to the client. */
export interface Responder {
  start(next: (listener: Listener) => void): void
  sendMetadata(metadata: GrpcMetadata, next: (metadata: GrpcMetadata) => void): void
  sendStatus(status: GrpcStatus, next: (status: GrpcStatus) => void): void
}

/** What a status without a code says. */
const UNKNOWN = 2

/** Asks the guard when a call comes; then sends the refusal, or goes on: now, or after the delay unless the client goes away. */
export function responderOf(
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

  const proceed = (entered: Admission, { metadata }: GrpcRequest, next: () => void): void => {
    if (isOver) return
    admission = entered
    const { refusal, delay } = entered
    if (refusal !== null) {
      const trailers = emptyLike(metadata)
      guard.write(entered, trailers)
      call.sendStatus(statusOf(refusal, entered, isSpread, trailers) as never)
    } else if (delay === 0) next()
    else stopWaiting = hold(delay, next)
  }

  return {
    start: (next) =>
      next({
        onReceiveMetadata(metadata, next) {
          const asking = (request = new GrpcRequest(path, metadata, call))
          const goOn = (entered: Admission): void => proceed(entered, asking, () => next(metadata))
          const entered = guard.enter(asking, null)
          if (isPromise(entered)) void entered.then(goOn)
          else goOn(entered)
        },
        onCancel() {
          isOver = true
          stopWaiting?.()
        },
      }),
    // What the application sends may be what it sends with every call: a copy takes the fields.
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
