// A fetch that waits as long as the server asks, and retries what may be retried.
import type { PoliteOptions } from './polite-options.ts'
import { isReplayable } from './replayable.ts'
import { RetryRules, type OutgoingRequest } from './retry-rules.ts'
import { sendWithRetries } from './send-with-retries.ts'

/**
 * The runtime's fetch, or a function with its signature.
 *
 * @example
 * ```ts
 * const send: Fetch = polite(fetch)
 * ```
 */
export type Fetch = typeof globalThis.fetch
type Input = Parameters<Fetch>[0]
type Init = Parameters<Fetch>[1]

/**
 * A drop-in fetch that honours Retry-After and every common kind of rate-limit header. It retries responses of 429
 * and 503: never before the instant the server named, with exponential backoff and full jitter, within a retry
 * budget. A response that it cannot or must not retry is returned as it is.
 *
 * @example
 * ```ts
 * const send = polite(fetch, { onGiveUp: ({ url, reason }) => console.warn(url, reason) })
 * const response = await send('https://api.example.com/things')
 * ```
 */
export function polite(fetch: Fetch = globalThis.fetch, options: PoliteOptions = {}): Fetch {
  const rules = new RetryRules('polite', options)
  return async (input, init) => {
    const outgoing = outgoingRequest(input, init)
    const request = isRequest(input) ? input : undefined
    const signal = signalOf(input, init)
    if (signal?.aborted) throw signal.reason
    // The body of a Request can be read once, so each attempt but the last sends a copy.
    const copies =
      request?.body && !hasBody(init) && rules.reasonNotToRepeat(outgoing) === undefined
    const send = (isLast: boolean): Promise<Response> =>
      fetch(copies && !isLast ? request.clone() : input, init)
    const transport = { send, headOf: (response: Response) => response, discard }
    return sendWithRetries(rules, outgoing, transport, signal)
  }
}

/** What the rules need to know of a fetch call. */
export function outgoingRequest(input: Input, init: Init): OutgoingRequest {
  const request = isRequest(input) ? input : undefined
  const headers = init?.headers === undefined ? request?.headers : new Headers(init.headers)
  return {
    method: init?.method ?? request?.method ?? 'GET',
    url: absolute(typeof input === 'string' ? input : 'href' in input ? input.href : input.url),
    headers: headers ?? new Headers(),
    replayable: isReplayable(init?.body),
  }
}

/** The signal of a fetch call: that of `init`, even if null, else that of the Request. */
export function signalOf(input: Input, init: Init): AbortSignal | null | undefined {
  if (init?.signal !== undefined) return init.signal
  return isRequest(input) ? input.signal : undefined
}

/** Fetch treats a null body as absent and keeps the body of the Request. */
function hasBody(init: Init): boolean {
  return init?.body !== undefined && init.body !== null
}

function isRequest(input: Input): input is Request {
  return typeof input === 'object' && 'clone' in input
}

/** In browsers, a URL may be relative to the page. */
function absolute(url: string): string {
  const { location } = globalThis as { location?: { href: string } }
  return location !== undefined && URL.canParse(url, location.href)
    ? new URL(url, location.href).href
    : url
}

/** A refusal's body up to this size is read, so that its connection can be reused; a larger one is cancelled. */
const MAX_DISCARDED_BYTES = 65_536

/** Reads the rest of a response. Returns a function that cancels what is still unread. */
function discard(response: Response): () => void {
  const reader = response.body?.getReader()
  if (reader === undefined) return () => {}
  const cancel = (): void => void reader.cancel().catch(() => {})
  const drain = async (): Promise<void> => {
    for (let size = 0; size <= MAX_DISCARDED_BYTES;) {
      const { done, value } = await reader.read()
      if (done) return
      size += value.byteLength
    }
    cancel()
  }
  // An error here means that the connection is lost; there is nothing left to release.
  drain().catch(() => {})
  return cancel
}
