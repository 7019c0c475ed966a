// Shorthand for tests that ask a store about one count after the other.
import { afterAll, beforeAll, expect } from 'vitest'
import { SluiceError } from '../../src/errors.ts'
import { limit, type LimitInput, type LimitOptions } from '../../src/limit/limit.ts'
import type { Verdict } from '../../src/limit/verdict.ts'
import type { RedisClient } from '../../src/redis/index.ts'
import { redisStore, type RedisStoreOptions } from '../../src/redis/redis-store.ts'
import type { Check, Store } from '../../src/stores/store.ts'

/** A store that waits long enough for a busy machine, and asks the server every time. */
export function patientStore(client: RedisClient, options: RedisStoreOptions = {}): Store {
  return redisStore(client, { timeout: 20_000, holdRefusals: 0, onWarning: () => {}, ...options })
}

/** A check on `key`, of cost 1 unless `more` says otherwise; one space for each algorithm and window. */
export function on(
  key: string,
  input: LimitInput,
  more: Partial<Check> & LimitOptions = {},
): Check {
  const { algorithm, burst, ...rest } = more
  const options = {
    ...(algorithm === undefined ? {} : { algorithm }),
    ...(burst === undefined ? {} : { burst }),
  }
  const made = limit(input, options)
  return { space: `${made.algorithm} ${made.window}`, key, limit: made, cost: 1, ...rest }
}

/** What is left under each check. */
export async function left(store: Store, ...checks: Check[]): Promise<number[]> {
  const verdicts = await store.peek(checks)
  return verdicts.map(({ remaining }) => remaining)
}

/** Takes one check and gives its verdict. */
export async function takeOne(store: Store, check: Check): Promise<Verdict> {
  return (await store.take([check]))[0]!
}

/** The error with which something was rejected, as code and transience. Fails when it is none of ours. */
export async function failure(promise: unknown): Promise<{ code: string; transient: boolean }> {
  const error = await Promise.resolve(promise).then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(SluiceError)
  const { code, transient } = error as SluiceError
  return { code, transient }
}

/** Fails the file when a promise was rejected that nobody looked at. */
export function nothingUnhandled(): void {
  const seen: unknown[] = []
  const note = (reason: unknown): void => void seen.push(reason)
  beforeAll(() => void process.on('unhandledRejection', note))
  afterAll(() => {
    process.off('unhandledRejection', note)
    expect(seen).toEqual([])
  })
}
