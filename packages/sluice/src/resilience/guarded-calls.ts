// The guard as a public value: deadline, breaker and fallback around any function.
import { OptionReader } from '../options/option-reader.ts'
import type { MaybePromise } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import { CallGuard } from './call-guard.ts'
import type { BreakerOptions, Failure } from './circuit-breaker.ts'
import type { OnEvent } from './events.ts'
import {
  checkBreaker,
  environment as systemEnvironment,
  TIMEOUT,
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
  const { breaker } = options
  const reader = new OptionReader('createCallGuard', options, ['timeout', 'breaker', 'onEvent'])
  checkBreaker(reader.name, breaker)
  const guard = new CallGuard({
    timeout: reader.millis('timeout', options.timeout, TIMEOUT),
    breaker,
    onEvent: reader.callable('onEvent', options.onEvent, undefined),
    ...systemEnvironment,
    ...environment,
  })
  return {
    execute: async (call, onFailure = rethrow) =>
      guard.execute(
        guard.firstShard,
        { call, onFailure: (_, failure: Failure) => onFailure(failure) },
        undefined,
      ),
  }
}

function rethrow({ error }: Failure): never {
  throw error
}
