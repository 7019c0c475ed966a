// Reads and writes Node's requests and responses; adapters of other frameworks on Node build on it.
import type { FrameworkAdapter } from './framework-adapter.ts'
import { countFieldLines } from './identity.ts'

/**
 * What is used of Node's `IncomingMessage`.
 *
 * @example
 * ```ts
 * const userOf = (request: NodeRequest) => request.headers['x-user']?.toString()
 * ```
 */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly rawHeaders: readonly string[]
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/**
 * What is used of Node's `ServerResponse`.
 *
 * @example
 * ```ts
 * const isOver = (response: NodeResponse): boolean => response.headersSent || response.closed
 * ```
 */
export interface NodeResponse {
  statusCode: number
  readonly headersSent: boolean
  readonly closed: boolean
  getHeader(name: string): number | string | readonly string[] | undefined
  setHeader(name: string, value: string): unknown
  end(body?: string): unknown
  once(event: 'close', listener: () => void): unknown
  removeListener(event: 'close', listener: () => void): unknown
}

/**
 * Reads and writes Node's own objects. Spread it to build an adapter of your own.
 *
 * @example
 * ```ts
 * const adapter = { ...nodeAdapter, path: () => '/fixed' }
 * const guard = createRequestGuard(adapter, { limit: '100/min' })
 * ```
 */
export const nodeAdapter: FrameworkAdapter<NodeRequest, NodeResponse> = {
  peerAddress: (request) => request.socket.remoteAddress,
  header: ({ headers }, name) => fieldString(headers[name]),
  fieldLines: (request, name) => countFieldLines(request.rawHeaders, name),
  method: (request) => request.method ?? 'GET',
  path: (request) => request.url ?? '/',
  route: () => undefined,
  routesLate: true,
  get(response, name) {
    const value = response.getHeader(name)
    // Nearly always there is none yet.
    return value === undefined ? undefined : fieldString(value)
  },
  set: (response, name, value) => void response.setHeader(name, value),
}

/**
 * The readers of {@link nodeAdapter} for a framework whose request wraps Node's.
 *
 * @example
 * ```ts
 * const adapter: Partial<FrameworkAdapter<{ req: IncomingMessage }, ServerResponse>> = {
 *   ...readingNode(({ req }) => req),
 * }
 * ```
 */
export function readingNode<Q>(
  raw: (request: Q) => NodeRequest,
): Pick<FrameworkAdapter<Q, never>, 'peerAddress' | 'header' | 'fieldLines' | 'method' | 'path'> {
  return {
    peerAddress: (request) => raw(request).socket.remoteAddress,
    header: (request, name) => nodeAdapter.header(raw(request), name),
    fieldLines: (request, name) => nodeAdapter.fieldLines!(raw(request), name),
    method: (request) => nodeAdapter.method(raw(request)),
    path: (request) => nodeAdapter.path(raw(request)),
  }
}

/** A field's value as one string. */
export function fieldString(
  value: number | string | readonly string[] | undefined,
): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  return typeof value === 'number' ? String(value) : value.join(', ')
}
