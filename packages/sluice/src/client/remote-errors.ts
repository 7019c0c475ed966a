// The decision service's problems as errors of the library, with what a breaker needs to know.
import { ERROR_CODES, SluiceError, type ErrorCode } from '../errors.ts'

/** What stands for a status when its problem names no code of ours. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid-attributes',
  401: 'store-forbidden',
  403: 'store-forbidden',
  404: 'invalid-policy',
  413: 'invalid-attributes',
  429: 'store-busy',
  503: 'store-busy',
}

/** The error of an answer other than 200. */
export function errorOfStatus(status: number, text: string): SluiceError {
  let problem: unknown
  try {
    problem = JSON.parse(text)
  } catch {
    // A proxy in between has answered in its own words.
  }
  return errorOfProblem({ ...(problem as object), status })
}

/** The error of a problem. Misuse is not transient; a service that is overloaded or has lost its store is. */
export function errorOfProblem(problem: unknown): SluiceError {
  const { status, code, detail, title } = (problem ?? {}) as Record<string, unknown>
  const known = ERROR_CODES.find((known) => known === code)
  const number = typeof status === 'number' ? status : 500
  const isOurs = number >= 500 || number === 429 || number === 408
  const fallback = CODES[number] ?? 'store-failed'
  const says = [detail, title].find((text) => typeof text === 'string') ?? `status ${number}`
  // A gateway's word for misuse must not look like a store that failed, nor the other way round.
  const chosen = known === undefined || known.startsWith('invalid-') === isOurs ? fallback : known
  return new SluiceError(chosen, `the decision service: ${says}`, { transient: isOurs })
}

/** The error when no answer came. */
export function unreachable(cause: unknown): SluiceError {
  const message = 'the decision service cannot be reached'
  return new SluiceError('store-unreachable', message, { cause, transient: true })
}
