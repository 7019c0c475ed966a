// Reads requests of Nest and writes its responses, on Express or Fastify.
import {
  frameworkTrustsAll,
  nodeAdapter,
  readingNode,
  type FrameworkAdapter,
  type NodeRequest,
  type NodeResponse,
} from 'sluice/http'

/** A request of Express, or one of Fastify. */
export type NestRequest =
  | (NodeRequest & {
      readonly originalUrl: string
      readonly ip?: string | undefined
      readonly route?: { readonly path?: unknown }
    })
  | {
      readonly raw: NodeRequest
      readonly ip?: string | undefined
      readonly routeOptions: { readonly url?: string | undefined }
    }

/** A response of Express, or a reply of Fastify. */
export type NestResponse =
  | NodeResponse
  | {
      readonly raw: NodeResponse
      getHeader(name: string): number | string | string[] | undefined
      header(name: string, value: string): unknown
    }

/** Reads and writes the platform's objects. The template of Nest is whole, with all prefixes. */
export const nestAdapter: FrameworkAdapter<NestRequest, NestResponse> = {
  ...readingNode(rawRequest),
  addressBy: { express: ({ ip }) => ip, fastify: ({ ip }) => ip },
  trustsAll: frameworkTrustsAll,
  path: (request) => ('raw' in request ? (request.raw.url ?? '/') : request.originalUrl),
  route: (request) =>
    'raw' in request ? request.routeOptions.url : templateText(request.route?.path),
  // Express and Fastify have the same method for it.
  get: (response, name) => nodeAdapter.get(response as NodeResponse, name),
  set(response, name, value) {
    if ('raw' in response) response.header(name, value)
    else response.setHeader(name, value)
  },
}

/** Express takes lists and expressions too. */
function templateText(path: unknown): string | undefined {
  return Array.isArray(path) ? path.join('|') : (path as string | RegExp | undefined)?.toString()
}

function rawRequest(request: NestRequest): NodeRequest {
  return 'raw' in request ? request.raw : request
}

/** Node's response below the platform's. */
export function rawResponse(response: NestResponse): NodeResponse {
  return 'raw' in response ? response.raw : response
}

/** Sends a string; Express and Fastify have the same methods for it. */
export function sendText(response: NestResponse, status: number, body: string): void {
  const sender = response as unknown as { status(code: number): { send(body: string): unknown } }
  sender.status(status).send(body)
}
