// The loop of a polite client: hold back, send, read the response, wait, send again.
import type { OutgoingRequest, ResponseHead, RetryRules } from './retry-rules.ts'
import { sleep } from './timers.ts'

/** How one HTTP library sends a request. */
export interface Transport<R> {
  /** Sends the request. `isLast`: there will be no further attempt. */
  readonly send: (isLast: boolean) => Promise<R>
  readonly headOf: (response: R) => ResponseHead
  /** Starts to release a response that is not returned to the caller. The returned function ends that at once. */
  readonly discard?: (response: R) => () => void
}

/** Sends a request until its response is one for the caller. Rejects as soon as the signal is aborted. */
export async function sendWithRetries<R>(
  rules: RetryRules,
  request: OutgoingRequest,
  { send, headOf, discard }: Transport<R>,
  signal?: AbortSignal | null,
): Promise<R> {
  const { timers } = rules
  const attempt = rules.begin(request)
  for (;;) {
    // During the wait, responses to other requests may have named a later instant.
    for (let hold = rules.holdFor(attempt); hold > 0; hold = rules.holdFor(attempt))
      await sleep(timers, hold, signal)
    attempt.number += 1
    const response = await send(attempt.number >= rules.maxAttempts)
    const wait = rules.retryDelay(attempt, headOf(response))
    if (wait === undefined) return response
    const release = discard?.(response)
    await sleep(timers, wait, signal).finally(release)
  }
}
