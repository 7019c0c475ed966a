// A fetch that behaves: it waits as long as the server says, and tries again what may be tried again.
import { Manners, type Errand, type PoliteOptions } from './manners.ts'
import { isReplayable } from './replayable.ts'
import { retrying } from './retrying.ts'

/** The runtime's fetch, or one like it. */
export type Fetch = typeof globalThis.fetch
type Input = Parameters<Fetch>[0]
type Init = Parameters<Fetch>[1]

/**
 * A drop-in fetch that honours Retry-After and all kinds of rate-limit headers, and tries again what was refused
 * with 429 or 503: never before the server's hint, with exponential backoff and full jitter, within a retry budget.
 * What it cannot or must not try again, it hands to the caller as it came.
 */
export function polite(fetch: Fetch = globalThis.fetch, options: PoliteOptions = {}): Fetch {
  const manners = new Manners('polite', options)
  return async (input, init) => {
    const errand = errandOf(input, init)
    const request = isRequest(input) ? input : undefined
    const signal = init?.signal === undefined ? request?.signal : init.signal
    if (signal?.aborted) throw signal.reason
    // A body within a request can be read once: each attempt but the last gets a copy.
    const copies = request?.body && !hasBody(init) && manners.mayRepeat(errand)
    const send = (isLast: boolean): Promise<Response> =>
      fetch(copies && !isLast ? request.clone() : input, init)
    return retrying(manners, errand, { send, answerOf: (response) => response, discard }, signal)
  }
}

/** What the rules need to know of a request. */
export function errandOf(input: Input, init: Init): Errand {
  const request = isRequest(input) ? input : undefined
  const headers = init?.headers === undefined ? request?.headers : new Headers(init.headers)
  return {
    method: init?.method ?? request?.method ?? 'GET',
    url: absolute(typeof input === 'string' ? input : 'href' in input ? input.href : input.url),
    headers: headers ?? new Headers(),
    replayable: isReplayable(init?.body),
  }
}

/** To fetch, null is no body either: that of the request stays. */
function hasBody(init: Init): boolean {
  return init?.body !== undefined && init.body !== null
}

function isRequest(input: Input): input is Request {
  return typeof input === 'object' && 'clone' in input
}

/** In browsers, addresses may be relative to the page. */
function absolute(url: string): string {
  const { location } = globalThis as { location?: { href: string } }
  return location !== undefined && URL.canParse(url, location.href)
    ? new URL(url, location.href).href
    : url
}

/** A refusal's body up to this size is read, which leaves the connection usable; a larger one is cut off. */
const MOST_DISCARDED = 65_536

/** Reads what is left of a response, so that its connection can serve the next attempt. */
function discard(response: Response): () => void {
  const reader = response.body?.getReader()
  if (reader === undefined) return () => {}
  const end = (): void => void reader.cancel().catch(() => {})
  const drain = async (): Promise<void> => {
    for (let size = 0; size <= MOST_DISCARDED;) {
      const { done, value } = await reader.read()
      if (done) return
      size += value.byteLength
    }
    end()
  }
  // A connection that breaks meanwhile has been let go, too.
  drain().catch(() => {})
  return end
}
