// Politeness for got: options for `got.extend`, which decide got's own retries.
import { Manners, type Journey, type PoliteOptions } from './manners.ts'
import { plainHeaders } from './plain-headers.ts'
import { isReplayable } from './replayable.ts'

/** What is read of got's question how long to wait. */
export interface GotRetry {
  readonly attemptCount: number
  readonly error: {
    readonly response?: { readonly statusCode: number; readonly headers: object } | undefined
    readonly options: {
      readonly method: string
      readonly url?: unknown
      readonly headers: object
      readonly body?: unknown
    }
  }
}

/** What got is told about retries. */
export interface PoliteGotOptions {
  readonly retry: {
    readonly limit: number
    readonly calculateDelay: (retry: GotRetry) => number
  }
}

/** `got.extend(politeGot())`. Got waits by itself: a request is not held back before it is sent. */
export function politeGot(options: PoliteOptions = {}): PoliteGotOptions {
  const manners = new Manners('politeGot', options)
  // By the options of a request, which got keeps over its attempts.
  const journeys = new WeakMap<object, Journey>()
  const calculateDelay = ({ attemptCount, error }: GotRetry): number => {
    const { response, options: request } = error
    if (response === undefined) return 0
    const { method, url, headers, body } = request
    const errand = { method, url: String(url), headers: plainHeaders(headers) }
    const journey =
      journeys.get(request) ?? manners.begin({ ...errand, replayable: isReplayable(body) })
    journeys.set(request, journey)
    journey.attempt = attemptCount
    const answer = { status: response.statusCode, headers: plainHeaders(response.headers) }
    const wait = manners.judge(journey, answer)
    // Zero means "give up" to got.
    return wait === undefined ? 0 : Math.max(1, wait)
  }
  return { retry: { limit: manners.attempts - 1, calculateDelay } }
}
