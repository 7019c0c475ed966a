// What runtimes of fetch handlers have in common: where the peer's address is, and responses.
import type { NodeRequest, NodeResponse } from './node-adapter.ts'
import type { RefusalReply } from './refusal-reply.ts'

/** The part of the runtime's second argument that holds the peer's address, for Node, Deno and Bun. */
interface Platform {
  readonly incoming?: NodeRequest
  readonly remoteAddr?: { readonly hostname?: string }
  readonly requestIP?: (request: Request) => { readonly address: string } | null
}

/** The Node request and response that a fetch request was made from. */
export interface NodeObjects {
  readonly incoming: NodeRequest
  readonly outgoing: NodeResponse
}

/** The Node request and response of a fetch request, if the runtime is a Node server. */
export function nodeObjectsOf(platform: unknown): NodeObjects | undefined {
  const { incoming, outgoing } = (platform ?? {}) as Partial<NodeObjects>
  return incoming === undefined || outgoing === undefined ? undefined : (platform as NodeObjects)
}

/** The peer's address, if the runtime gives it. */
export function peerOf(request: Request, platform: unknown): string | undefined {
  if (typeof platform !== 'object' || platform === null) return undefined
  const { incoming, remoteAddr } = platform as Platform
  if (incoming !== undefined) return incoming.socket.remoteAddress
  if (remoteAddr !== undefined) return remoteAddr.hostname
  // Must be called as a method.
  if ('requestIP' in platform) return (platform as Required<Platform>).requestIP(request)?.address
  return undefined
}

/** The path of a URL, with its query. */
export function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  return start === -1 ? '/' : url.slice(start)
}

/** A reply as a response. */
export function responseOf({ status, body, fields }: RefusalReply): Response {
  return new Response(body, { status, headers: fields as [string, string][] })
}

/** The request that a response was last written for. */
const WRITTEN = Symbol('sluice.written')

/**
 * The response, to write fields of a request into. A copy without the given fields if they are of an earlier request:
 * a response without a body may answer any number.
 */
export function writableResponse(
  request: Request,
  response: Response,
  fields: readonly string[],
): Response {
  const { [WRITTEN]: written } = response as { [WRITTEN]?: Request }
  let own = response
  if (written !== undefined && written !== request) {
    own = new Response(response.body, response)
    for (const name of fields) own.headers.delete(name)
  }
  return Object.assign(own, { [WRITTEN]: request })
}

/** The response for a client that closed the connection while its request was held; it is never received. */
export function clientClosedResponse(): Response {
  return new Response(null, { status: 499 })
}
