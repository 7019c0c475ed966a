// How the core reads a framework's request and writes its response: one object per adapter, none per request.

/** Reads requests and writes header fields. Nothing here may throw for a request that is well formed. */
export interface FrameworkAdapter<Q, S> {
  /** The address at the other end of the connection; undefined where there is none, as on a Unix socket. */
  peerAddress(request: Q): string | undefined
  /** A request field by its lower-case name, several lines joined with commas. */
  header(request: Q, name: string): string | undefined
  method(request: Q): string
  /** The path as it was sent; it may carry a query. */
  path(request: Q): string
  /** The template that the framework matched, such as `/orders/:id`; undefined when it matched none, or not yet. */
  route(request: Q): string | undefined
  /** The path, as it was sent, under which the router of `route` is mounted, where the template leaves it out. */
  mount?(request: Q): string
  /** Whether routes are only known to middleware mounted on them, so that `route` may not know yet. */
  readonly routesLate?: boolean
  /** Whether the framework routes paths as they were sent, without resolving dots or minding backslashes. */
  readonly routesAsSent?: boolean
  /** A field that the response already has. */
  get(response: S, name: string): string | undefined
  set(response: S, name: string, value: string): void
}
