// What an error says: is it the caller's mistake, one key's trouble, or a store that fails?
import { SluiceError, type ErrorCode } from '../errors.ts'

/** The code of an error; `store-failed` for one that is none of ours. */
export function causeOf(error: unknown): ErrorCode {
  return error instanceof SluiceError ? error.code : 'store-failed'
}

/** Whether the caller did something wrong, which no stand-in mends. */
export function isMisuse(error: unknown): boolean {
  if (!(error instanceof SluiceError)) return false
  return error.code.startsWith('invalid-') || error.code === 'limiter-closed'
}

/** Whether the store is well and only the key that was asked for is not. */
export function concernsOneKey(error: unknown): boolean {
  return error instanceof SluiceError && error.code === 'store-wrong-type'
}

/** The error of a call that was given up. */
export function tooLate(timeout: number): SluiceError {
  return new SluiceError('store-timeout', `no answer within ${timeout} ms`, { transient: true })
}
