// How requests go on, or not, where Node's response stands behind the framework's.
import type { RequestGuard } from './request-guard.ts'
import { hold } from './hold.ts'
import type { NodeResponse } from './node-adapter.ts'
import type { Admission } from './admission.ts'
import type { RefusalReply } from './refusal-reply.ts'
import { isPromise } from '../stores/store.ts'

/** Sends a refusal by the framework's own means. */
export type Send<S> = (refusal: RefusalReply, response: S) => void

/** Asks the guard; then sends the refusal, or goes on: now, or after the delay unless the client goes away. */
export function pass<Q extends object, S>(
  guard: RequestGuard<Q, S>,
  request: Q,
  response: S,
  raw: NodeResponse,
  send: Send<S>,
  next: () => void,
): void {
  const admission = guard.enter(request, response)
  if (isPromise(admission))
    void admission.then((admission) =>
      proceed(guard, admission, request, response, raw, send, next),
    )
  else proceed(guard, admission, request, response, raw, send, next)
}

function proceed<Q extends object, S>(
  guard: RequestGuard<Q, S>,
  admission: Admission,
  request: Q,
  response: S,
  raw: NodeResponse,
  send: Send<S>,
  next: () => void,
): void {
  if (admission.refusal !== null) {
    // Somebody may have answered already; then there is nothing left to say.
    if (!raw.headersSent) send(admission.refusal, response)
    return
  }
  if (guard.hasAfter)
    onAnswered(raw, () => guard.answered(admission, raw.statusCode, request, response))
  if (admission.delay === 0) next()
  else holdUntilClosed(admission.delay, raw, next)
}

/** Holds a request; when the client goes away meanwhile, it does not go on, and `left` is called instead. */
export function holdUntilClosed(
  delay: number,
  response: NodeResponse,
  next: () => void,
  left: () => void = () => undefined,
): void {
  if (response.closed) return left()
  const leave = (): void => {
    cancel()
    left()
  }
  const cancel = hold(delay, () => {
    response.removeListener('close', leave)
    next()
  })
  response.once('close', leave)
}

/** Calls back when the response is over, unless the client had no answer. */
export function onAnswered(response: NodeResponse, then: () => void): void {
  response.once('close', () => {
    if (response.headersSent) then()
  })
}

/** Sends a refusal by Node's own means. */
export function sendByNode(refusal: RefusalReply, response: NodeResponse): void {
  response.statusCode = refusal.status
  for (const [name, value] of refusal.fields) response.setHeader(name, value)
  response.end(refusal.body)
}
