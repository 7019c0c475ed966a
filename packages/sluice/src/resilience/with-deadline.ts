// A limiter whose answers come in time or not at all.
import type { Limiter } from '../limiter/limiter.ts'
import { Guard } from './guard.ts'
import {
  checkFunction,
  checkNames,
  checkTimeout,
  noBreaker,
  SURROUNDINGS,
  TIMEOUT,
  wrongFor,
  type DeadlineOptions,
  type EventOptions,
} from './options.ts'

/**
 * Rejects with `store-timeout` when the limiter has not answered within the timeout. Units that it takes after
 * that are handed back when its answer arrives. A timer that is late because this process was stopped or busy
 * gives up nothing that has already been answered.
 */
export function withDeadline(
  limiter: Limiter,
  options: DeadlineOptions & EventOptions = {},
): Limiter {
  const wrong = wrongFor('withDeadline')
  checkNames(options, ['timeout', 'onEvent'], wrong)
  checkTimeout(options.timeout, wrong)
  checkFunction('onEvent', options.onEvent, wrong)
  return new Guard(limiter, {
    timeout: options.timeout ?? TIMEOUT,
    breaker: noBreaker(),
    fallback: null,
    onEvent: options.onEvent,
    ...SURROUNDINGS,
  })
}
