// Reads requests of Nest and writes its responses, on Express or Fastify.
import { frameworkTrustsAll, nodeAdapter, type FrameworkAdapter } from 'sluice/http'

/** What is used of Node's request, which is Express's too. */
interface RawRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly rawHeaders: readonly string[]
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/** What is used of Node's response, which is Express's too. */
export interface RawResponse {
  readonly statusCode: number
  readonly headersSent: boolean
  readonly closed: boolean
  getHeader(name: string): number | string | readonly string[] | undefined
  setHeader(name: string, value: string): unknown
  once(event: 'close', listener: () => void): unknown
  removeListener(event: 'close', listener: () => void): unknown
}

/** A request of Express, or one of Fastify. */
export type NestRequest =
  | (RawRequest & {
      readonly originalUrl: string
      readonly ip?: string | undefined
      readonly route?: { readonly path?: unknown }
    })
  | {
      readonly raw: RawRequest
      readonly ip?: string | undefined
      readonly routeOptions: { readonly url?: string | undefined }
    }

/** A response of Express, or a reply of Fastify. */
export type NestResponse =
  | RawResponse
  | {
      readonly raw: RawResponse
      getHeader(name: string): number | string | string[] | undefined
      header(name: string, value: string): unknown
    }

/** Reads and writes the platform's objects. The template of Nest is whole, with all prefixes. */
export const nestAdapter: FrameworkAdapter<NestRequest, NestResponse> = {
  peerAddress: (request) => rawRequest(request).socket.remoteAddress,
  header: (request, name) => nodeAdapter.header(rawRequest(request), name),
  fieldLines: (request, name) => nodeAdapter.fieldLines!(rawRequest(request), name),
  addressBy: { express: ({ ip }) => ip, fastify: ({ ip }) => ip },
  trustsAll: frameworkTrustsAll,
  method: (request) => rawRequest(request).method ?? 'GET',
  path: (request) => ('raw' in request ? (request.raw.url ?? '/') : request.originalUrl),
  route: (request) =>
    'raw' in request ? request.routeOptions.url : templateText(request.route?.path),
  get: (response, name) => text(response.getHeader(name)),
  set(response, name, value) {
    if ('raw' in response) response.header(name, value)
    else response.setHeader(name, value)
  },
}

/** Express takes lists and expressions too. */
function templateText(path: unknown): string | undefined {
  return Array.isArray(path) ? path.join('|') : (path as string | RegExp | undefined)?.toString()
}

function rawRequest(request: NestRequest): RawRequest {
  return 'raw' in request ? request.raw : request
}

/** Node's response below the platform's. */
export function rawResponse(response: NestResponse): RawResponse {
  return 'raw' in response ? response.raw : response
}

/** Sends a string; Express and Fastify have the same methods for it. */
export function sendText(response: NestResponse, status: number, body: string): void {
  const sender = response as unknown as { status(code: number): { send(body: string): unknown } }
  sender.status(status).send(body)
}

function text(value: number | string | readonly string[] | undefined): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  return typeof value === 'number' ? String(value) : value.join(', ')
}
