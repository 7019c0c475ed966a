// Polite retries for axios: an adapter around another adapter.
import type { HeaderReader } from './hints/quota.ts'
import { plainHeaders } from './plain-headers.ts'
import type { PoliteOptions } from './polite-options.ts'
import { isReplayable } from './replayable.ts'
import { RetryRules } from './retry-rules.ts'
import { sendWithRetries } from './send-with-retries.ts'

/**
 * The fields that are read from an axios request.
 *
 * @example
 * ```ts
 * const config: AxiosConfigLike = { method: 'get', url: 'https://api.example.com/things' }
 * ```
 */
export interface AxiosConfigLike {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly baseURL?: string | undefined
  readonly data?: unknown
  readonly headers?: object | undefined
  readonly signal?: unknown
}

/**
 * The fields that are read from an axios response.
 *
 * @example
 * ```ts
 * const response: AxiosResponseLike = { status: 429, headers: { 'retry-after': '3' } }
 * ```
 */
export interface AxiosResponseLike {
  readonly status: number
  readonly headers: object
}

/** The outcome of one attempt: a response, or an error that may contain one. */
type Outcome<R> = { readonly response: R } | { readonly error: unknown }

/**
 * An axios adapter that waits and retries like {@link polite}.
 *
 * @example
 * ```ts
 * const adapter = politeAxios(axios.getAdapter(['xhr', 'http', 'fetch']))
 * const client = axios.create({ adapter })
 * ```
 */
export function politeAxios<C extends AxiosConfigLike, R extends AxiosResponseLike>(
  adapter: (config: C) => Promise<R>,
  options: PoliteOptions = {},
): (config: C) => Promise<R> {
  const rules = new RetryRules('politeAxios', options)
  return async (config) => {
    const { method = 'get', url = '', baseURL = '', data, headers = {} } = config
    const address = URL.canParse(url)
      ? url
      : `${baseURL.replace(/\/$/, '')}/${url.replace(/^\//, '')}`
    const replayable = isReplayable(data)
    const request = { method, url: address, headers: plainHeaders(headers), replayable }
    const send = (): Promise<Outcome<R>> =>
      adapter(config).then(
        (response) => ({ response }),
        (error: unknown) => ({ error }),
      )
    const signal = config.signal as AbortSignal | undefined
    const outcome = await sendWithRetries(rules, request, { send, headOf }, signal)
    if ('error' in outcome) throw outcome.error
    return outcome.response
  }
}

/** Status 0, which is never retried, for an error without a response. */
function headOf(outcome: Outcome<AxiosResponseLike>): { status: number; headers: HeaderReader } {
  const response =
    'response' in outcome
      ? outcome.response
      : (outcome.error as { response?: AxiosResponseLike } | undefined)?.response
  return { status: response?.status ?? 0, headers: plainHeaders(response?.headers ?? {}) }
}
