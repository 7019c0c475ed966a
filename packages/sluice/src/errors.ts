// The one error class of the library, and every code it can carry.

/**
 * What can go wrong, by name. `invalid-*` codes are misuse: thrown before anything is counted, and
 * fixed by changing the call or the configuration. `store-*` codes are stores that could not answer.
 */
export const ERROR_CODES = [
  'invalid-duration',
  'invalid-limit',
  'invalid-policy',
  'invalid-option',
  'invalid-cost',
  'invalid-key',
  'invalid-attributes',
  'unknown-reservation',
  'limiter-closed',
  'store-unreachable',
  'store-timeout',
  'store-busy',
  'store-readonly',
  'store-full',
  'store-forbidden',
  'store-wrong-type',
  'store-learning',
  'store-failed',
  'breaker-open',
  'queue-full',
  'wait-too-long',
] as const

/**
 * The code of an error, each with its heading in `docs/reference/errors.md`.
 *
 * @example
 * ```ts
 * const retried: ErrorCode[] = ['store-timeout', 'store-unreachable']
 * ```
 */
export type ErrorCode = (typeof ERROR_CODES)[number]

/** One mistake in a configuration, for programs that show it where it was made. */
export interface Problem {
  /** Where, such as `rules[2].limit.burst`; '' is the whole of what was given. */
  readonly path: string
  /** What was found there; undefined when nothing was. */
  readonly value: unknown
  /** The mistake as a sentence: path, value and what is accepted. */
  readonly message: string
}

/**
 * What an error may carry besides its code and its sentence; `transient` is what a breaker needs.
 *
 * @example
 * ```ts
 * throw new SluiceError('store-timeout', 'no answer within 50 ms', { transient: true })
 * ```
 */
export interface SluiceErrorOptions {
  readonly cause?: unknown
  readonly transient?: boolean
  readonly problems?: readonly Problem[]
}

/**
 * Every error that Sluice throws. Being refused is a value, never an error.
 *
 * @example
 * ```ts
 * try {
 *   createLimiter({ limit: 'often' })
 * } catch (error) {
 *   if (error instanceof SluiceError) console.error(error.code, error.message)
 * }
 * ```
 */
export class SluiceError extends Error {
  override readonly name = 'SluiceError'
  /** Stable, documented under `docs/reference/errors.md`. */
  readonly code: ErrorCode
  /** True when the same call may succeed later without any change. */
  readonly transient: boolean
  /** Every mistake of an invalid limit or policy; empty for other codes. */
  readonly problems: readonly Problem[]

  constructor(code: ErrorCode, message: string, options: SluiceErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.transient = options.transient ?? false
    this.problems = options.problems ?? []
  }

  /** The address of what the documentation says about the code. */
  get help(): string {
    return helpAt('reference/errors', this.code)
  }

  /** True for errors of the other build too: a program may load the library as an ES module and as CommonJS. */
  static override [Symbol.hasInstance](value: unknown): value is SluiceError {
    if (!(value instanceof Error) || value.name !== 'SluiceError') return false
    return (ERROR_CODES as readonly unknown[]).includes((value as Partial<SluiceError>).code)
  }
}

/** The code of an error; `store-failed` for errors of other libraries. */
export function causeOf(error: unknown): ErrorCode {
  return error instanceof SluiceError ? error.code : 'store-failed'
}

/**
 * Whose fault an error is: the caller's, which no fallback can answer; that of one key, which a store that works cannot
 * read or count; or the store's.
 */
export function faultOf(error: unknown): 'caller' | 'key' | 'store' {
  if (!(error instanceof SluiceError)) return 'store'
  const { code } = error
  if (code.startsWith('invalid-') || code === 'limiter-closed') return 'caller'
  return code === 'store-wrong-type' || code === 'store-learning' ? 'key' : 'store'
}

/** The address of the folder `docs`; its pages have the names of their files. */
const DOCUMENTATION = 'https://sluice.example/docs'

/**
 * The address of a heading in the documentation, for messages that lead to their own page.
 *
 * @example
 * ```ts
 * helpAt('reference/errors', 'invalid-limit') // https://…/docs/reference/errors#invalid-limit
 * ```
 */
export function helpAt(page: string, heading: string): string {
  return `${DOCUMENTATION}/${page}#${heading}`
}

/** Renders any value for an error message: short, quoted, never throwing. */
export function show(value: unknown): string {
  if (typeof value === 'string') {
    return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value)
  }
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'number' || value === null || value === undefined) return String(value)
  if (typeof value === 'function' || typeof value === 'symbol') return typeof value
  try {
    // Without a budget, a small object that holds itself many times over takes forever to print.
    let budget = 100
    const text =
      JSON.stringify(value, (_, member: unknown) => (budget-- > 0 ? member : undefined)) ??
      typeof value
    return text.length > 60 ? `${text.slice(0, 57)}...` : text
  } catch {
    return 'an object that cannot be shown'
  }
}
