// Turns the decision service's problem documents and failures into errors of the library.
import { ERROR_CODES, SluiceError, type ErrorCode } from '../errors.ts'

/** The code for a status whose problem document carries no code of ours. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid-attributes',
  401: 'store-forbidden',
  403: 'store-forbidden',
  404: 'invalid-policy',
  413: 'invalid-attributes',
  429: 'store-busy',
  503: 'store-busy',
}

/** The error for a response whose status is not 200. */
export function statusError(status: number, text: string): SluiceError {
  let problem: unknown
  try {
    problem = JSON.parse(text)
  } catch {
    // A proxy in between may answer with HTML.
  }
  return problemError({ ...(problem as object), status })
}

/** The error for a problem document. Invalid requests are not transient; an overloaded or failing service is. */
export function problemError(problem: unknown): SluiceError {
  const { status, code, detail, title } = (problem ?? {}) as Record<string, unknown>
  const known = ERROR_CODES.find((known) => known === code)
  const number = typeof status === 'number' ? status : 500
  const isServiceFailure = number >= 500 || number === 429 || number === 408
  const fallback = CODES[number] ?? 'store-failed'
  const says = [detail, title].find((text) => typeof text === 'string') ?? `status ${number}`
  // The status decides: a gateway's 502 with an `invalid-…` code is a failure, not an invalid request.
  const contradicts = known?.startsWith('invalid-') === isServiceFailure
  const chosen = known === undefined || contradicts ? fallback : known
  return new SluiceError(chosen, `the decision service: ${says}`, { transient: isServiceFailure })
}

/** The error for a request without a response. */
export function serviceUnreachable(cause: unknown): SluiceError {
  const message = 'the decision service is unreachable'
  return new SluiceError('store-unreachable', message, { cause, transient: true })
}

/** The error for a response of 200 that is not what was requested. */
export function malformedAnswer(): SluiceError {
  return new SluiceError('store-failed', 'the decision service sent a malformed answer')
}
