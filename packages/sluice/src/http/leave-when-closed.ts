// Detects the end of a response: sent, aborted or cancelled, whichever is first.
import type { Closable } from './hold.ts'

/**
 * What is used of a slot of a budget. `leave` frees it once, however often it is called.
 *
 * @example
 * ```ts
 * const slot: Leavable = await budget.enter({ user: '42' })
 * ```
 */
export interface Leavable {
  leave(): void
}

/**
 * Frees a slot when Node's response closes: after its last byte, or when the client has gone. Frees it at once if the
 * client has gone already. For Node's own server and Express pass the response, for Koa `context.res`, for Fastify and
 * Nest on Fastify `reply.raw`.
 *
 * @example
 * ```ts
 * leaveWhenClosed(slot, response)
 * ```
 */
export function leaveWhenClosed(slot: Leavable, response: Pick<Closable, 'closed' | 'once'>): void {
  if (response.closed) slot.leave()
  else response.once('close', () => slot.leave())
}

/**
 * The same response; it frees the slot when its body has been read to the end, was cancelled or has failed. For handlers
 * that return a `Response`, such as those of Hono and fetch. A response without a body frees it at once.
 *
 * @example
 * ```ts
 * const response = leaveWhenRead(slot, new Response('a long text'))
 * ```
 */
export function leaveWhenRead(slot: Leavable, response: Response): Response {
  const { body } = response
  if (body === null) {
    slot.leave()
    return response
  }
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  const watched = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (!done) return controller.enqueue(value)
          slot.leave()
          controller.close()
        } catch (error) {
          slot.leave()
          controller.error(error)
        }
      },
      cancel(reason) {
        slot.leave()
        return reader.cancel(reason)
      },
    },
    // Nothing is read before the client wants it.
    { highWaterMark: 0 },
  )
  return new Response(watched, response)
}

/**
 * What is used of Node's response to notice how it ends.
 *
 * @example
 * ```ts
 * const ending: Ending = response // of node:http
 * ```
 */
export interface Ending extends Pick<Closable, 'closed' | 'once'> {
  readonly headersSent: boolean
  readonly statusCode: number
}

/**
 * Calls back when Node's response is over: `answered`, or `unanswered` if the client had no answer.
 *
 * @example
 * ```ts
 * onEnd(response, () => console.log('answered'), () => console.log('the client left'))
 * ```
 */
export function onEnd(
  response: Omit<Ending, 'statusCode'>,
  answered: () => void,
  unanswered: () => void,
): void {
  const end = (): void => (response.headersSent ? answered() : unanswered())
  if (response.closed) end()
  else response.once('close', end)
}
