// Whether the proxy setting of a framework trusts every peer, so that clients choose their own address.

/** An address that is no proxy's, one that a client might invent, and more hops than exist. */
const STRANGER = '198.51.100.7'
const FORGED = '203.0.113.9'
const MANY_HOPS = 64

/**
 * Whether the proxy setting that `request.ip` of Express or Fastify follows trusts every address; undefined if it cannot be seen.
 *
 * @example
 * ```ts
 * const adapter: Partial<FrameworkAdapter<Request, Response>> = { trustsAll: frameworkTrustsAll }
 * ```
 */
export function frameworkTrustsAll(request: object): boolean | undefined {
  const { app } = request as { readonly app?: { get?(name: string): unknown } }
  const trusts = app?.get?.('trust proxy fn')
  if (typeof trusts === 'function') return trusts(STRANGER, MANY_HOPS) === true
  return 'raw' in request ? fastifyTrustsAll(request) : undefined
}

/** Fastify does not expose its setting, so the address of a made-up request shows it. */
function fastifyTrustsAll(request: object): boolean {
  const socket = { remoteAddress: STRANGER }
  const headers = { 'x-forwarded-for': `${FORGED}${`, ${STRANGER}`.repeat(MANY_HOPS)}` }
  const raw = { headers, socket, connection: socket }
  const madeUpRequest: unknown = Object.create(Object.getPrototypeOf(request) as object, {
    raw: { value: raw },
  })
  return (madeUpRequest as { readonly ip?: unknown }).ip === FORGED
}
