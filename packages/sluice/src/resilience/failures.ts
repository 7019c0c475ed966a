// Classifies errors: misuse by the caller, trouble with one key, or a store that fails.
import { show, SluiceError, type ErrorCode } from '../errors.ts'

/** The code of an error; `store-failed` for errors of other libraries. */
export function causeOf(error: unknown): ErrorCode {
  return error instanceof SluiceError ? error.code : 'store-failed'
}

/** Whether the caller made a mistake, which no fallback can answer. */
export function isMisuse(error: unknown): boolean {
  if (!(error instanceof SluiceError)) return false
  return error.code.startsWith('invalid-') || error.code === 'limiter-closed'
}

/** Whether the store works and only this key cannot be read or counted. */
export function concernsOneKey(error: unknown): boolean {
  if (!(error instanceof SluiceError)) return false
  return error.code === 'store-wrong-type' || error.code === 'store-learning'
}

/** The error of a call that missed its deadline. */
export function tooLate(timeout: number): SluiceError {
  return new SluiceError('store-timeout', `no answer within ${timeout} ms`, { transient: true })
}

/** The error of a store that answered something other than verdicts. */
export function wrongAnswer(answer: unknown): SluiceError {
  return new SluiceError(
    'store-failed',
    `the store answered ${show(answer)}; accepted: one verdict per check`,
  )
}
