// How Hono's context is read and written; on Node, through Node's own objects.
import { nodeAdapter } from './node-adapter.ts'
import { nodeBehind, pathOf, peerOf } from './fetch-platform.ts'
import type { FrameworkAdapter } from './framework-adapter.ts'

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
export const honoAdapter: FrameworkAdapter<HonoContext, HonoContext> = {
  peerAddress: ({ req, env }) => peerOf(req.raw, env),
  header({ req, env }, name) {
    const node = nodeBehind(env)
    return node === undefined ? req.header(name) : nodeAdapter.header(node.incoming, name)
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
      : nodeAdapter.get(node.outgoing, name)
  },
  set(context, name, value) {
    const node = nodeBehind(context.env)
    if (node === undefined) context.header(name, value)
    else nodeAdapter.set(node.outgoing, name, value)
  },
}
