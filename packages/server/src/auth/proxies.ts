// The proxies that send auth requests, and the fields in which each of them describes the client's request.

/** The auth requests of one kind of proxy. */
export interface ProxyDialect {
  /** The fields with the request's path and method; nothing else about them is trusted. */
  readonly uri: string
  readonly method: string
  /** The status of a refusal, where the proxy does not understand the real one. */
  readonly refused?: number
}

/** By the name at the end of the path. A proxy must overwrite these fields; the configurations in `deploy/` do. */
export const PROXIES: Readonly<Record<ProxyName, ProxyDialect>> = {
  // auth_request takes 401 and 403 for a refusal and makes a 500 of everything else.
  nginx: { uri: 'x-original-uri', method: 'x-original-method', refused: 403 },
  caddy: { uri: 'x-forwarded-uri', method: 'x-forwarded-method' },
  traefik: { uri: 'x-forwarded-uri', method: 'x-forwarded-method' },
  haproxy: { uri: 'x-original-uri', method: 'x-original-method' },
}

/** A proxy with a configuration in `deploy/`. */
export type ProxyName = 'nginx' | 'caddy' | 'traefik' | 'haproxy'
