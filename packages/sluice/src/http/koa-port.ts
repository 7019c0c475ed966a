// How Koa's context is read and written.
import { nodeAdapter, type NodeRequest, type NodeResponse } from './node-adapter.ts'
import type { FrameworkAdapter } from './framework-adapter.ts'

/** What is used of Koa's context. For the rest, write its type: `user: (context: Context) => …`. */
export interface KoaContext {
  readonly req: NodeRequest
  readonly res: NodeResponse
  readonly originalUrl: string
  status: number
  body: unknown
  get(name: string): string
  set(name: string, value: string): unknown
}

/** Reads and writes through the context. */
export const koaAdapter: FrameworkAdapter<KoaContext, KoaContext> = {
  peerAddress: ({ req }) => nodeAdapter.peerAddress(req),
  header: ({ req }, name) => nodeAdapter.header(req, name),
  method: ({ req }) => nodeAdapter.method(req),
  path: ({ originalUrl }) => originalUrl,
  route: matchedRoute,
  routesLate: true,
  routesAsSent: true,
  get: ({ res }, name) => nodeAdapter.get(res, name),
  set: ({ res }, name, value) => nodeAdapter.set(res, name, value),
}

/** What the router leaves on the context. */
interface Matched {
  readonly matched?: readonly { readonly path: unknown; readonly methods: readonly string[] }[]
  readonly _matchedRoute?: unknown
}

/** The template of the route, which is known within the router. `_matchedRoute` alone may be its middleware's. */
function matchedRoute(context: KoaContext): string | undefined {
  const { matched, _matchedRoute } = context as Matched
  const method = nodeAdapter.method(context.req)
  const route = matched?.findLast(({ methods }) => methods.includes(method))
  return (route === undefined ? _matchedRoute : route.path)?.toString()
}

/** Throws the error again, with header fields for the answer that Koa makes of it. */
export function throwWith(fields: Readonly<Record<string, string>>, error: unknown): never {
  if (typeof error === 'object' && error !== null && Object.isExtensible(error)) {
    const brings = error as { headers?: Record<string, string> }
    // The error may be one that every request is answered with, and have the fields of another.
    brings.headers = { ...brings.headers, ...fields }
  }
  throw error
}
