// What is allowed but probably a mistake, reported once by code.
import { helpAt } from '../errors.ts'

/**
 * The codes of warnings, each with its heading in `docs/reference/http/warnings.md`.
 *
 * @example
 * ```ts
 * const ignored: HttpWarningCode[] = ['address-unknown']
 * ```
 */
export type HttpWarningCode =
  | 'proxy-header-ignored'
  | 'proxy-header-missing'
  | 'peer-not-trusted'
  | 'trust-too-wide'
  | 'hop-count'
  | 'fewer-hops'
  | 'address-unknown'
  | 'address-list'
  | 'option-unused'
  | 'skip-value'
  | 'attribute-unset'
  | 'method-name'
  | 'address-prefix'
  | 'api-key-plain'
  | 'route-undeclared'
  | 'control-unmet'
  | 'rule-skipped'
  | 'slots-not-taken'
  | 'bare-duration'
  | 'counts-shared'
  | 'limiters-many'
  | 'route-unknown'
  | 'mount-unknown'
  | 'request-refused'
  | 'kind-uncounted'
  | 'limiter-failed'
  | 'headers-sent'

/**
 * A probable mistake of the set-up; the request itself is in order.
 *
 * @example
 * ```ts
 * rateLimit({ limit: '100/min', onWarning: ({ code, message }: HttpWarning) => notify(code, message) })
 * ```
 */
export interface HttpWarning {
  /** Stable, documented under `docs/reference/http/warnings.md`. */
  readonly code: HttpWarningCode
  readonly message: string
  /** The address of what the documentation says about the code. */
  readonly help: string
  /** The error that caused `limiter-failed`, `request-refused` and `headers-sent`. */
  readonly cause?: unknown
}

/** Reports a warning, unless its code was reported before. */
export type Warn = (code: HttpWarningCode, message: () => string, cause?: unknown) => void

/** Hands each code to the listener once. What the listener throws is ignored: it must not fail a request. */
export function warnOnce(listener: (warning: HttpWarning) => void = warnOnConsole): Warn {
  const reported = new Set<HttpWarningCode>()
  return (code, message, cause) => {
    if (reported.has(code)) return
    reported.add(code)
    try {
      const warning = { code, message: message(), help: helpAt('reference/http/warnings', code) }
      listener(cause === undefined ? warning : { ...warning, cause })
    } catch {
      // See above.
    }
  }
}

function warnOnConsole({ code, message, help }: HttpWarning): void {
  // oxlint-disable-next-line no-console -- the default listener
  console.warn(`sluice: ${message} (${code}, ${help})`)
}
