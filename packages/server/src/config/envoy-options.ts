// The values that the options of Envoy's rate limit service accept.

/**
 * What a refused request costs. `all-or-none`: nothing. `each`: every descriptor pays for itself, whatever the
 * others say, as in Envoy's own service; counts stop at the limit.
 */
export type Charging = 'all-or-none' | 'each'

/**
 * `retry-after`: on refusals. `ratelimit`: the structured fields RateLimit-Policy and RateLimit, every limit named.
 * `ratelimit-triple`: RateLimit-Limit, -Remaining and -Reset of the limit nearest to refusing, `x-ratelimit` the same
 * with X-. All of them count seconds from now.
 */
export type HeaderDialect = (typeof HEADER_DIALECTS)[number]

/** All dialects. */
export const HEADER_DIALECTS = [
  'retry-after',
  'ratelimit',
  'ratelimit-triple',
  'x-ratelimit',
] as const
