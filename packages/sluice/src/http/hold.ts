// Holds requests for the delay of a leaky bucket: the one place where requests wait.
import type { Millis } from '../time/clock.ts'
import { MAX_TIMER_MS } from '../time/timers.ts'

/**
 * Calls back after the delay, however long it is. Returns the function that stops waiting.
 *
 * @example
 * ```ts
 * const cancel = hold(decision.delay, () => console.log('go on'))
 * ```
 */
export function hold(delay: Millis, then: () => void): () => void {
  let timeLeft = delay
  let timer: ReturnType<typeof setTimeout>
  const wait = (): void => {
    const step = Math.min(timeLeft, MAX_TIMER_MS)
    timeLeft -= step
    timer = setTimeout(timeLeft > 0 ? wait : then, step)
  }
  wait()
  return () => clearTimeout(timer)
}

/**
 * What is used of a response, or a socket, to notice that the client closed the connection.
 *
 * @example
 * ```ts
 * const closable: Closable = response // of node:http
 * ```
 */
export interface Closable {
  readonly closed: boolean
  once(event: 'close', listener: () => void): unknown
  removeListener(event: 'close', listener: () => void): unknown
}

/**
 * Holds a request, then calls `next`. If the client closes the connection first, calls `onClosed` instead.
 *
 * @example
 * ```ts
 * holdUntilClosed(decision.delay, response, () => response.end('ok'))
 * ```
 */
export function holdUntilClosed(
  delay: Millis,
  connection: Closable,
  next: () => void,
  onClosed: () => void = () => undefined,
): void {
  if (connection.closed) return onClosed()
  const leave = (): void => {
    cancel()
    onClosed()
  }
  const cancel = hold(delay, () => {
    connection.removeListener('close', leave)
    next()
  })
  connection.once('close', leave)
}

/** Holds a request. Resolves to false as soon as the signal aborts, to true after the delay. */
export function holdUntilAborted(delay: Millis, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(false)
    const leave = (): void => {
      cancel()
      resolve(false)
    }
    const cancel = hold(delay, () => {
      signal.removeEventListener('abort', leave)
      resolve(true)
    })
    signal.addEventListener('abort', leave, { once: true })
  })
}
