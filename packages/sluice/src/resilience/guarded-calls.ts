// The guard as a public value: deadline, breaker and fallback around any function.
import { show } from '../errors.ts'
import type { MaybePromise } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import { isTimerDelay } from '../time/timers.ts'
import { CallGuard } from './call-guard.ts'
import type { BreakerOptions, Failure } from './circuit-breaker.ts'
import type { OnEvent } from './events.ts'
import {
  checkBreaker,
  checkNames,
  environment as systemEnvironment,
  TIMEOUT,
  wrongFor,
  type Environment,
} from './options.ts'

/**
 * How calls are guarded.
 *
 * @example
 * ```ts
 * createCallGuard({ timeout: 200, breaker: { failures: 5 } })
 * ```
 */
export interface GuardedCallsOptions {
  /** Milliseconds after which a call is given up. Default 100. */
  readonly timeout?: Millis
  readonly breaker?: BreakerOptions
  /** Receives every transition of the breaker. */
  readonly onEvent?: OnEvent
}

/**
 * Runs calls under one deadline and one breaker.
 *
 * @example
 * ```ts
 * const guard: GuardedCalls = createCallGuard({ timeout: 200 })
 * const profile = await guard.execute(() => fetchProfile(id))
 * ```
 */
export interface GuardedCalls {
  /**
   * Runs a call. When it fails, takes too long, or the breaker is open, `onFailure` answers; without it, the
   * promise rejects (`store-timeout`, `breaker-open`, or the call's own error).
   */
  execute<T>(
    call: () => MaybePromise<T>,
    onFailure?: (failure: Failure) => MaybePromise<T>,
  ): Promise<T>
}

/**
 * Guards any call that may fail or hang.
 *
 * @example
 * ```ts
 * const guard = createCallGuard({ timeout: 200 })
 * const profile = await guard.execute(() => fetchProfile(id), () => cachedProfile(id))
 * ```
 */
export function createCallGuard(
  options: GuardedCallsOptions = {},
  /** For tests and simulations. Default: the runtime's own. */
  environment: Partial<Environment> = {},
): GuardedCalls {
  const wrong = wrongFor('createCallGuard')
  checkNames(options, ['timeout', 'breaker', 'onEvent'], wrong)
  const { timeout = TIMEOUT, breaker, onEvent } = options
  if (!isTimerDelay(timeout))
    wrong(`timeout is ${show(timeout)}; accepted: whole milliseconds, 1 or more`)
  checkBreaker(breaker, wrong)
  if (onEvent !== undefined && typeof onEvent !== 'function')
    wrong(`onEvent is ${show(onEvent)}; accepted: a function`)
  const guard = new CallGuard({
    timeout,
    breaker,
    onEvent,
    ...systemEnvironment,
    ...environment,
  })
  return {
    execute: async (call, onFailure = rethrow) =>
      guard.execute(
        guard.first,
        { call, onFailure: (_, failure: Failure) => onFailure(failure) },
        undefined,
      ),
  }
}

function rethrow({ error }: Failure): never {
  throw error
}
