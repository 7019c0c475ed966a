// The values that the options of Envoy's rate limit service accept.
import { DIALECT_NAMES, type DialectName } from 'sluice/http'

/**
 * What a refused request costs. `all-or-none`: nothing. `each`: every descriptor pays for itself, whatever the
 * others say, as in Envoy's own service; counts stop at the limit.
 */
export type Charging = 'all-or-none' | 'each'

/** `retry-after` on refusals, and every dialect of the library's table. */
export type EnvoyHeaders = 'retry-after' | DialectName

/** The accepted names. */
export const ENVOY_HEADERS: readonly ['retry-after', ...DialectName[]] = [
  'retry-after',
  ...DIALECT_NAMES,
]
