// Why somebody does not get a turn.
import { SluiceError } from '../errors.ts'
import type { Millis } from '../time/clock.ts'

/** Too many wait already. */
export function queueFull(maxQueue: number): SluiceError {
  const message = `${maxQueue} wait already, which is maxQueue; try again later, or raise it`
  return new SluiceError('queue-full', message, { transient: true })
}

/** The turn would come too late. The cause is the store's error, when that is why. */
export function waitTooLong(maxWait: Millis, wait: Millis, cause?: unknown): SluiceError {
  const message = `the wait would be ${wait} ms or longer, and maxWait is ${maxWait} ms`
  return new SluiceError('wait-too-long', message, { transient: true, cause })
}

/** No wait is long enough. */
export function neverFits(cost: number): SluiceError {
  return new SluiceError(
    'invalid-cost',
    `cost is ${cost}, which is more than the limit ever allows at once`,
  )
}
