// How Hono's context is read and written; on Node, through Node's own objects.
import { nodePort } from './node-port.ts'
import { nodeBehind, pathOf, peerOf } from './platform.ts'
import type { Port } from './port.ts'

/** What is used of Hono's context. For the rest, write its type: `user: (context: Context) => …`. */
export interface HonoContext {
  readonly req: {
    readonly raw: Request
    readonly method: string
    readonly matchedRoutes: readonly { readonly method: string; readonly path: string }[]
    header(name: string): string | undefined
  }
  readonly env: unknown
  res: Response
  header(name: string, value: string): void
}

/** Reads and writes through the context. */
export const honoPort: Port<HonoContext, HonoContext> = {
  peer: ({ req, env }) => peerOf(req.raw, env),
  header({ req, env }, name) {
    const node = nodeBehind(env)
    return node === undefined ? req.header(name) : nodePort.header(node.incoming, name)
  },
  method: ({ req }) => req.method,
  path: ({ req }) => pathOf(req.raw.url),
  // Middleware stands among the matched routes as `ALL` of a path that ends in a star.
  route: ({ req }) =>
    req.matchedRoutes.findLast(({ method, path }) => method !== 'ALL' || !path.endsWith('*'))?.path,
  get(context, name) {
    const node = nodeBehind(context.env)
    // Reading `res` makes a whole response, and takes Hono off its short path.
    return node === undefined
      ? (context.res.headers.get(name) ?? undefined)
      : nodePort.get(node.outgoing, name)
  },
  set(context, name, value) {
    const node = nodeBehind(context.env)
    if (node === undefined) context.header(name, value)
    else nodePort.set(node.outgoing, name, value)
  },
}
