// Makes limiters: from one limit or a policy, on any store.
import { show, SluiceError } from '../errors.ts'
import { limit as limitOf, type LimitInput } from '../limit/limit.ts'
import { compilePolicy } from '../policy/compile.ts'
import { parsePolicy } from '../policy/parse.ts'
import type { Policy } from '../policy/policy.ts'
import { abortable } from '../resilience/abortable.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { AsyncStore, Store, SyncStore } from '../stores/store.ts'
import { ruleLimiter } from './bare-limiter.ts'
import { checkResilience, guarded, type ResilienceOptions } from './guarded.ts'
import type { Limiter, SyncLimiter } from './limiter.ts'
import { rememberPolicy } from './policy-behind.ts'
import type { RuleLimiter } from './rule-limiter.ts'

/** What a limiter is made from. */
export interface LimiterOptions<S extends Store = Store> {
  /** One limit for the attribute `key`, or for the text given to `check`. */
  readonly limit?: LimitInput
  /** Or a policy of several rules. */
  readonly policy?: Policy
  /** Where the counts live. Default: this process's memory. */
  readonly store?: S
  /** Keys hold hashes instead of the attributes' values. */
  readonly hashKeys?: boolean
  /** What happens when a remote store is slow, gone or wrong; false: its errors reject. Default: see the options. */
  readonly resilience?: ResilienceOptions | false
}

const WRITE =
  "write createLimiter({ limit: '100/min' }) or createLimiter({ policy: { name, rules } })"
const OPTIONS = ['limit', 'policy', 'store', 'hashKeys', 'resilience']

/**
 * Makes a limiter. On the memory store it answers at once, on a remote store by promises; on a store of which
 * the types do not say which, `await` suits both.
 */
export function createLimiter(options: LimiterOptions<SyncStore>): SyncLimiter
export function createLimiter(options: LimiterOptions<AsyncStore>): Limiter
export function createLimiter(options: LimiterOptions): Limiter | SyncLimiter
export function createLimiter(options: LimiterOptions): Limiter | SyncLimiter {
  checkOptions(options)
  const policy = parsePolicy(
    options.policy === undefined ? policyOf(options.limit as LimitInput) : options.policy,
  )
  const { hashKeys = false, resilience = {} } = options
  const store = options.store ?? memoryStore()
  const own = options.store === undefined
  const isBareLimit = options.limit !== undefined
  const limiter = ruleLimiter(compilePolicy(policy), store, own, hashKeys, isBareLimit)
  const made =
    store.sync === true
      ? (limiter as unknown as SyncLimiter)
      : resilience === false
        ? promising(limiter)
        : guarded(limiter, { policy, hashKeys, isBareLimit, store, resilience })
  rememberPolicy(made, policy)
  return made
}

/** The policy of a bare limit. */
function policyOf(input: LimitInput): Policy {
  return { name: 'default', rules: [{ name: 'default', by: ['key'], limit: limitOf(input) }] }
}

/** Mistakes reject instead of throwing, like everything else that a promise stands for. */
function promising(limiter: RuleLimiter): Limiter {
  return {
    check(attributes, cost, signal) {
      // Not an async function: that would make two promises more of the one that the store has given.
      try {
        if (signal?.aborted === true) throw signal.reason
        const answer = Promise.resolve(limiter.check(attributes, cost))
        return signal === undefined ? answer : abortable(answer, signal)
      } catch (error) {
        return Promise.reject(error as Error)
      }
    },
    peek: async (attributes, cost) => limiter.peek(attributes, cost),
    refund: async (attributes, cost, takenAt) => limiter.refund(attributes, cost, takenAt),
    reset: async (attributes) => limiter.reset(attributes),
    close: async () => limiter.close(),
  }
}

function checkOptions(options: LimiterOptions): void {
  const wrong = (message: string): never => {
    throw new SluiceError('invalid-option', `createLimiter: ${message}`)
  }
  if (typeof options !== 'object' || options === null)
    wrong(`options are ${show(options)}; ${WRITE}`)
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name))
  if (unknown !== undefined)
    wrong(`unknown option ${show(unknown)}; accepted: ${OPTIONS.join(', ')}`)
  if (options.limit === undefined && options.policy === undefined)
    wrong(`neither limit nor policy is given; ${WRITE}`)
  if (options.limit !== undefined && options.policy !== undefined)
    wrong('both limit and policy are given; accepted: one of them, as a policy has its own limits')
  const { store, hashKeys } = options
  if (
    store !== undefined &&
    (typeof store !== 'object' || store === null || typeof store.take !== 'function')
  ) {
    wrong(`store is ${show(store)}; accepted: memoryStore(), redisStore(client) or another Store`)
  }
  if (hashKeys !== undefined && typeof hashKeys !== 'boolean')
    wrong(`hashKeys is ${show(hashKeys)}; accepted: true or false`)
  checkResilience(options.resilience, store, wrong)
}
