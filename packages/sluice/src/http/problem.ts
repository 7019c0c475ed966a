// The body of a refusal: problem details (RFC 9457), of the types that the RateLimit draft registers.

/** Why a request is refused: over a limit, blocked, no decision possible, no valid identity, or a failed function of the application. */
export type RefusalKind = 'over-limit' | 'blocked' | 'unavailable' | 'uncountable' | 'broken'

/**
 * Problem details of a refusal. `violated-policies` is spelled as the draft has it.
 *
 * @example
 * ```ts
 * const withSupport = (problem: ProblemDetails) => ({ ...problem, support: 'help@example.com' })
 * rateLimit({ limit: '100/min', problem: withSupport })
 * ```
 */
export interface ProblemDetails {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  /** The rules that refused, except the hidden ones. */
  readonly 'violated-policies'?: readonly string[]
  /** Names the refusal, if decisions have an id: what a customer quotes to support. */
  readonly 'decision-id'?: string
}

const TYPES = 'https://iana.org/assignments/http-problem-types#'

const TEXTS: Readonly<Record<RefusalKind, { type: string; title: string; detail: string }>> = {
  'over-limit': {
    type: `${TYPES}quota-exceeded`,
    title: 'Quota Exceeded',
    detail: 'The request costs more than its limit ever allows. Waiting does not help.',
  },
  blocked: {
    type: 'about:blank',
    title: 'Blocked',
    detail: 'The client is blocked.',
  },
  unavailable: {
    type: `${TYPES}temporary-reduced-capacity`,
    title: 'Temporary Reduced Capacity',
    detail: 'Whether the request is within its limits cannot be decided now.',
  },
  uncountable: {
    type: 'about:blank',
    title: 'Bad Request',
    detail: 'The request names a caller that cannot be counted.',
  },
  broken: {
    type: 'about:blank',
    title: 'Internal Server Error',
    detail: 'The request could not be counted.',
  },
}

/** The problem of a refusal; `seconds` is undefined when waiting does not help, `atOnce` says that all slots are taken. */
export function problemOf(
  kind: RefusalKind,
  status: number,
  seconds: number | undefined,
  violated: readonly string[],
  { id, atOnce }: { readonly id?: string | undefined; readonly atOnce: boolean },
): ProblemDetails {
  const { type, title, detail } = TEXTS[kind]
  const isOver = kind === 'over-limit'
  const canWait = isOver || kind === 'blocked'
  const again = atOnce
    ? `Too many requests at once. Try again when one has ended, or in ${seconds} s.`
    : `Try again in ${seconds} s.`
  return {
    type,
    title,
    status,
    detail: canWait && seconds !== undefined ? again : detail,
    ...(isOver ? { 'violated-policies': violated } : {}),
    ...(id === undefined ? {} : { 'decision-id': id }),
  }
}
