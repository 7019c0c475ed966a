// How requests go on, or not, where Node's response stands behind the framework's.
import type { Guard } from './guard.ts'
import { hold } from './hold.ts'
import type { NodeResponse } from './node-port.ts'
import type { Passage } from './passage.ts'
import type { Refusal } from './refusal.ts'
import { isPromise } from './subject.ts'

/** Sends a refusal by the framework's own means. */
export type Send<S> = (refusal: Refusal, response: S) => void

/** Asks the guard; then sends the refusal, or goes on: now, or after the delay unless the client goes away. */
export function pass<Q extends object, S>(
  guard: Guard<Q, S>,
  request: Q,
  response: S,
  raw: NodeResponse,
  send: Send<S>,
  next: () => void,
): void {
  const passage = guard.enter(request, response)
  if (isPromise(passage))
    void passage.then((passage) => proceed(guard, passage, request, response, raw, send, next))
  else proceed(guard, passage, request, response, raw, send, next)
}

function proceed<Q extends object, S>(
  guard: Guard<Q, S>,
  passage: Passage,
  request: Q,
  response: S,
  raw: NodeResponse,
  send: Send<S>,
  next: () => void,
): void {
  if (passage.refusal !== null) {
    // Somebody may have answered already; then there is nothing left to say.
    if (!raw.headersSent) send(passage.refusal, response)
    return
  }
  if (guard.hasAfter)
    onAnswered(raw, () => guard.answered(passage, raw.statusCode, request, response))
  if (passage.delay === 0) next()
  else holdUntilClosed(passage.delay, raw, next)
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
export function sendByNode(refusal: Refusal, response: NodeResponse): void {
  response.statusCode = refusal.status
  for (const [name, value] of refusal.fields) response.setHeader(name, value)
  response.end(refusal.body)
}
