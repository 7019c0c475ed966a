// The HTTP skin on Node: call the guard, then refuse, hold or continue.
import { Admission } from './admission.ts'
import { holdUntilClosed } from './hold.ts'
import { mapAnswer } from '../stores/store.ts'
import type { NodeResponse } from './node-adapter.ts'
import type { RefusalReply } from './refusal-reply.ts'
import type { RefusalAction } from './refusal-action.ts'
import type { RequestGuard } from './request-guard.ts'

/** How a framework on Node sends replies and calls the next handler. */
export interface NodeFlow<S> {
  /** Node's response, which the framework's response wraps. */
  raw(response: S): NodeResponse
  send(reply: RefusalReply, response: S): void
  /** Whether the application has answered already. Default: whether Node has sent the head. */
  isAnswered?(response: S): boolean
  /** Whether `next(error)` makes the framework answer the error. If not, the reply is sent instead. */
  readonly takesErrors?: boolean
}

/** Calls the next handler; with an error, the framework answers it. */
export type Next = (error?: Error) => void

/**
 * Makes the middleware of a guard. It runs the guard, then sends the refusal or calls the handler: at once, or after the delay unless
 * the client closes.
 */
export function middlewareOf<Q extends object, S>(
  guard: RequestGuard<Q, S>,
  flow: NodeFlow<S>,
): (request: Q, response: S, next: Next) => void {
  const proceed = (request: Q, response: S, next: Next, admission: Admission): void => {
    if (admission.refusal !== null) return refuse(guard, flow, admission, request, response, next)
    if (guard.hasAfter) guard.watch(admission, flow.raw(response), request, response)
    if (admission.delay === 0) next()
    else holdUntilClosed(admission.delay, flow.raw(response), next)
  }
  return (request, response, next) => {
    const admission = guard.enter(request, response)
    if (admission instanceof Admission) proceed(request, response, next, admission)
    // Bound, not enclosed: a closure here would cost an object also where nothing is awaited.
    else void admission.then(proceed.bind(undefined, request, response, next))
  }
}

function refuse<Q extends object, S>(
  guard: RequestGuard<Q, S>,
  flow: NodeFlow<S>,
  admission: Admission,
  request: Q,
  response: S,
  next: Next,
): void {
  const action = guard.refuse(admission, request, response)
  void mapAnswer(action, (action) => finish(flow, action, response, next))
}

function finish<S>(flow: NodeFlow<S>, action: RefusalAction, response: S, next: Next): void {
  if (action.type === 'handled') return
  if (flow.isAnswered?.(response) ?? flow.raw(response).headersSent) return
  if (action.type === 'error' && flow.takesErrors === true) next(action.error as Error)
  else flow.send(action.reply, response)
}

/** Sends a reply through Node's own response. */
export function sendByNode(reply: RefusalReply, response: NodeResponse): void {
  response.statusCode = reply.status
  for (const [name, value] of reply.fields) response.setHeader(name, value)
  response.end(reply.body)
}
