// What to do for a refused request: the reply, or what the application's `onRefused` makes of it.
import { show } from '../errors.ts'
import { attempt, mapAnswer, type MaybePromise } from '../stores/store.ts'
import type { Admission } from './admission.ts'
import { wrong, type CustomReply, type HttpOptions } from './options.ts'
import { customized, type RefusalReply } from './refusal-reply.ts'

/**
 * What to do for a refused request: send a reply, send the application's Response, nothing more, or handle an error.
 *
 * @example
 * ```ts
 * const statusOf = (action: RefusalAction) => (action.type === 'reply' ? action.reply.status : null)
 * ```
 */
export type RefusalAction =
  | { readonly type: 'reply'; readonly reply: RefusalReply }
  | { readonly type: 'response'; readonly response: Response; readonly reply: RefusalReply }
  | { readonly type: 'handled' }
  | { readonly type: 'error'; readonly error: unknown; readonly reply: RefusalReply }

/** The action for a refused request. Never throws or rejects. */
export function refusalAction<Q, S>(
  onRefused: HttpOptions<Q, S>['onRefused'],
  { refusal, error, decision }: Admission,
  request: Q,
  response: S,
): MaybePromise<RefusalAction> {
  const reply = refusal as RefusalReply
  const fail = (error: unknown): RefusalAction => ({ type: 'error', error, reply })
  if (onRefused === undefined) return error === undefined ? { type: 'reply', reply } : fail(error)
  return attempt(
    () => mapAnswer(onRefused(decision, request, response), (result) => actionOf(result, reply)),
    fail,
  )
}

/** The action that `onRefused` returned. Throws `invalid-option`. */
function actionOf(result: unknown, reply: RefusalReply): RefusalAction {
  if (result === 'handled') return { type: 'handled' }
  if (result === undefined) return { type: 'reply', reply }
  if (typeof Response !== 'undefined' && result instanceof Response)
    return { type: 'response', response: result, reply }
  if (typeof result !== 'object' || result === null)
    throw wrong(`onRefused returned ${show(result)}; accepted: { status, headers, body }`)
  return { type: 'reply', reply: customized(reply, result as CustomReply) }
}
