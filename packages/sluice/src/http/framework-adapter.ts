// How the core reads a framework's request and writes its response: one object per framework, none per request.
import type { FieldAccess } from './headers/dialect.ts'

/**
 * Reads requests and writes header fields. No method may throw for a well-formed request.
 *
 * @example
 * ```ts
 * const adapter: FrameworkAdapter<IncomingMessage, ServerResponse> = {
 *   ...nodeAdapter,
 *   route: (request) => request.headers['x-route']?.toString(),
 * }
 * ```
 */
export interface FrameworkAdapter<Q, S> extends FieldAccess<S> {
  /** The address at the other end of the connection; undefined where there is none, as on a Unix socket. */
  peerAddress(request: Q): string | undefined
  /** A request field by its lower-case name, several lines joined with commas. */
  header(request: Q, name: string): string | undefined
  /** How many lines of the request are this field or spell it with `_` for `-`. Default: whether `header` has it. */
  fieldLines?(request: Q, name: string): number
  method(request: Q): string
  /** The path as it was sent; it may carry a query. */
  path(request: Q): string
  /** The template that the framework matched, such as `/orders/:id`; undefined when it matched none, or not yet. */
  route(request: Q): string | undefined
  /** The path, as it was sent, under which the router of `route` is mounted, if the template leaves it out. */
  mount?(request: Q): string
  /** Whether only middleware of a route knows the route, so that `route` may not know it yet. */
  readonly routesLate?: boolean
  /** Whether the framework routes paths as they were sent, without resolving dots or reading backslashes as slashes. */
  readonly routesAsSent?: boolean
  /** The client's address by the framework's own proxy setting, by the framework's name: `address: 'express'`. */
  readonly addressBy?: Readonly<Record<string, (request: Q) => string | undefined>>
  /** Whether that setting trusts every peer, so that clients choose their address; undefined when it does not say. */
  readonly trustsAll?: (request: Q) => boolean | undefined
}
