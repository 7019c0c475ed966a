// Politeness for axios: an adapter around an adapter.
import type { HeaderReader } from './hints/quota.ts'
import { Manners, type PoliteOptions } from './manners.ts'
import { plainHeaders } from './plain-headers.ts'
import { isReplayable } from './replayable.ts'
import { retrying } from './retrying.ts'

/** What is read of an axios request. */
export interface AxiosConfigLike {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly baseURL?: string | undefined
  readonly data?: unknown
  readonly headers?: object | undefined
  readonly signal?: unknown
}

/** What is read of an axios response. */
export interface AxiosResponseLike {
  readonly status: number
  readonly headers: object
}

/** What came back: a response, or an error that may hold one. */
type Reply<R> = { readonly response: R } | { readonly error: unknown }

/** `axios.create({ adapter: politeAxios(axios.getAdapter(['xhr', 'http', 'fetch'])) })`. */
export function politeAxios<C extends AxiosConfigLike, R extends AxiosResponseLike>(
  adapter: (config: C) => Promise<R>,
  options: PoliteOptions = {},
): (config: C) => Promise<R> {
  const manners = new Manners('politeAxios', options)
  return async (config) => {
    const { method = 'get', url = '', baseURL = '', data, headers = {} } = config
    const address = URL.canParse(url)
      ? url
      : `${baseURL.replace(/\/$/, '')}/${url.replace(/^\//, '')}`
    const replayable = isReplayable(data)
    const errand = { method, url: address, headers: plainHeaders(headers), replayable }
    const send = (): Promise<Reply<R>> =>
      adapter(config).then(
        (response) => ({ response }),
        (error: unknown) => ({ error }),
      )
    const signal = config.signal as AbortSignal | undefined
    const reply = await retrying(manners, errand, { send, answerOf }, signal)
    if ('error' in reply) throw reply.error
    return reply.response
  }
}

/** An error without a response is nothing to try again. */
function answerOf(reply: Reply<AxiosResponseLike>): { status: number; headers: HeaderReader } {
  const response =
    'response' in reply
      ? reply.response
      : (reply.error as { response?: AxiosResponseLike } | undefined)?.response
  return { status: response?.status ?? 0, headers: plainHeaders(response?.headers ?? {}) }
}
