// The proxies that can ask before they pass a request on, and how each of them tells what it is about.

/** How one kind of proxy puts its question. */
export interface ProxyDialect {
  /** The fields in which it names the request's path and method; nothing else about them is believed. */
  readonly uri: string
  readonly method: string
  /** The status of a refusal, where the proxy does not understand the real one. */
  readonly refused?: number
}

/** By the name at the end of the path. A proxy must overwrite the fields that are believed; the configurations in `deploy/` do. */
export const PROXIES: Readonly<Record<ProxyName, ProxyDialect>> = {
  // auth_request takes 401 and 403 for a refusal and makes a 500 of everything else.
  nginx: { uri: 'x-original-uri', method: 'x-original-method', refused: 403 },
  caddy: { uri: 'x-forwarded-uri', method: 'x-forwarded-method' },
  traefik: { uri: 'x-forwarded-uri', method: 'x-forwarded-method' },
  haproxy: { uri: 'x-original-uri', method: 'x-original-method' },
}

/** A proxy with a configuration in `deploy/`. */
export type ProxyName = 'nginx' | 'caddy' | 'traefik' | 'haproxy'
