// What happens between a request and the end of its response.
import type { RawResponse } from './nest-adapter.ts'

/** Waits, at most as long as one timer can; false when the client goes away meanwhile. */
export function heldUntil(delay: number, response: RawResponse): Promise<boolean> {
  return new Promise((resolve) => {
    if (response.closed) return resolve(false)
    const leave = (): void => {
      clearTimeout(timer)
      resolve(false)
    }
    const timer = setTimeout(
      () => {
        response.removeListener('close', leave)
        resolve(true)
      },
      Math.min(delay, 2 ** 31 - 1),
    )
    response.once('close', leave)
  })
}

/** Calls back when the response is over, unless the client had no answer. */
export function whenAnswered(response: RawResponse, then: () => void): void {
  response.once('close', () => {
    if (response.headersSent) then()
  })
}
