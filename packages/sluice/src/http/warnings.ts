// What is allowed but probably not meant, told once by code.

/** The codes of warnings, each with its heading in `docs/reference/http/index.md`. */
export type HttpWarningCode =
  | 'proxy-header-ignored'
  | 'proxy-header-missing'
  | 'peer-not-trusted'
  | 'trust-too-wide'
  | 'hop-count'
  | 'fewer-hops'
  | 'address-unknown'
  | 'route-unknown'
  | 'mount-unknown'
  | 'limiter-failed'
  | 'headers-sent'

/** Something worth knowing that is no error of the request. */
export interface HttpWarning {
  /** Stable, documented under `docs/reference/http/index.md`. */
  readonly code: HttpWarningCode
  readonly message: string
  /** The error behind `limiter-failed` and `headers-sent`. */
  readonly cause?: unknown
}

/** Tells of something, unless its code has been told before. */
export type Warn = (code: HttpWarningCode, message: () => string, cause?: unknown) => void

/** Hands each code on once. A listener that throws is nobody's request's business. */
export function warnOnce(listener: (warning: HttpWarning) => void = warnOnConsole): Warn {
  const told = new Set<HttpWarningCode>()
  return (code, message, cause) => {
    if (told.has(code)) return
    told.add(code)
    try {
      listener(
        cause === undefined ? { code, message: message() } : { code, message: message(), cause },
      )
    } catch {
      // It had its chance.
    }
  }
}

function warnOnConsole({ code, message }: HttpWarning): void {
  // oxlint-disable-next-line no-console -- the one place for it: somebody should hear of it once
  console.warn(`sluice: ${message} (${code})`)
}
