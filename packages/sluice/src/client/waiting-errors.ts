// The errors of calls that do not get a turn.
import { SluiceError } from '../errors.ts'
import type { Millis } from '../time/clock.ts'

/** The queue has no room. */
export function queueFull(maxQueue: number): SluiceError {
  const message = `${maxQueue} calls are waiting, which is maxQueue; try again later, or raise maxQueue`
  return new SluiceError('queue-full', message, { transient: true })
}

/** The turn would come too late. `cause` is the store's error if the store is the reason. */
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
