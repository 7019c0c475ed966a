// Makes budgets: from a policy, on any store that keeps holds.
import type { DecideOptions } from '../decision/decide.ts'
import type { OnSettled } from '../decision/thresholds.ts'
import { show } from '../errors.ts'
import { blockedByOf, rememberPolicy } from '../limiter/policy-of-limiter.ts'
import { OptionReader } from '../options/option-reader.ts'
import { compilePolicy } from '../policy/compile.ts'
import { parsePolicyInCode } from '../policy/parse.ts'
import type { PolicyInCode, RuleInCode } from '../policy/policy.ts'
import type { ResilienceOptions } from '../resilience/options.ts'
import { ResilientStore } from '../resilience/resilient-store.ts'
import { acquireResilient } from '../resilience/shared-resilience.ts'
import type { HoldStore } from '../stores/holds/hold-store.ts'
import { withHolds } from '../stores/holds/with-holds.ts'
import { Memory } from '../stores/memory/memory.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { MaybePromise, RemoteStore, Store, SyncStore } from '../stores/store.ts'
import { backgroundTimers, type Timers } from '../time/timers.ts'
import { PolicyBudget, type Budget, type SyncBudget } from './budget.ts'

/** A rule of a budget: `concurrency` may stand in the place of `limit`. */
export type BudgetRule = Omit<RuleInCode, 'limit'> & Partial<Pick<RuleInCode, 'limit'>>

/**
 * Options of {@link createBudget}.
 *
 * @example
 * ```ts
 * const options: BudgetOptions = {
 *   policy: { name: 'llm', rules: [{ name: 'tokens', by: ['team'], limit: '9000/min', hold: '60s' }] },
 * }
 * ```
 */
export interface BudgetOptions<S extends Store = Store> extends Omit<DecideOptions, 'store'> {
  /** A policy with at least one rule that has `hold`. */
  readonly policy: { readonly name: string; readonly rules: readonly BudgetRule[] }
  /** Where the counts live: `memoryStore()` or `redisStore(client)`. Default: this process's memory. */
  readonly store?: S
  /** Keys hold hashes instead of the attributes' values. */
  readonly hashKeys?: boolean
  /** What happens when a remote store is slow, unreachable or wrong; false: its errors reject. */
  readonly resilience?: ResilienceOptions | false
  /** Observes what settlements charge, such as `settled` of `watchThresholds`. It must not throw. */
  readonly onSettled?: OnSettled
  /** For tests. Default: the runtime's own. */
  readonly timers?: Timers
}

/**
 * The budget of a store: on a memory store it answers at once.
 *
 * @example
 * ```ts
 * const spend = async (budget: BudgetFor<AsyncStore>) => budget.reserve({ team: 'search' }, 1200)
 * ```
 */
export type BudgetFor<S extends Store> = S extends SyncStore ? SyncBudget : Budget

const OPTIONS = [
  'policy',
  'store',
  'hashKeys',
  'resilience',
  'timers',
  'onDecision',
  'onSettled',
  'isTimed',
  'identify',
  'blocked',
  'blockedBy',
]

/**
 * Makes a budget of a policy.
 *
 * @example
 * ```ts
 * const budget = createBudget({
 *   policy: { name: 'llm', rules: [{ name: 'tokens', by: ['team'], limit: '100000/min', hold: '60s' }] },
 * })
 * const { allowed, id } = budget.reserve({ team: 'search' }, 1200)
 * if (allowed) budget.settle(id, 870)
 * ```
 */
export function createBudget<S extends Store = SyncStore>(options: BudgetOptions<S>): BudgetFor<S> {
  const reader = new OptionReader('createBudget', options, OPTIONS, 'accepted: { policy, store }')
  const policy = parsePolicyInCode(options.policy) as PolicyInCode
  if (!policy.rules.some(({ hold }) => hold !== undefined))
    reader.fail("policy has no rule with hold; add hold: '60s' to a rule, or use createLimiter")
  const { hashKeys = false, timers = backgroundTimers } = options
  const { blocked, onDecision, isTimed, identify } = options
  const { store, release } = storeFor(options, reader)
  const decideOptions = { blocked, onDecision, isTimed, identify }
  const rules = compilePolicy(policy)
  const budget = new PolicyBudget({
    name: policy.name,
    rules,
    hashKeys,
    store,
    decideOptions,
    onSettled: options.onSettled,
    timers,
    release,
  })
  const publicBudget = store.sync === true ? budget : withPromises(budget)
  rememberPolicy(publicBudget, { policy, blockedBy: blockedByOf(options) })
  return publicBudget as unknown as BudgetFor<S>
}

/** The store that a budget holds by, and what it releases when it is closed. */
function storeFor(
  { store, resilience = {} }: BudgetOptions,
  reader: OptionReader,
): { readonly store: HoldStore; readonly release: () => MaybePromise<void> } {
  const nothing = (): void => {}
  if (store === undefined) {
    const own = memoryStore()
    return { store: withHolds(own), release: () => own.close() }
  }
  if (store instanceof Memory) return { store: withHolds(store), release: nothing }
  if (typeof (store as Partial<HoldStore>).exchange !== 'function')
    reader.fail(
      `store is ${show(store)}, which keeps no holds; accepted: memoryStore() or redisStore(client)`,
    )
  if (store.sync === true || store instanceof ResilientStore || resilience === false)
    return { store: store as HoldStore, release: nothing }
  const { store: resilient, release } = acquireResilient(store as RemoteStore, resilience)
  return { store: resilient as HoldStore & Store, release }
}

/** Misuse rejects instead of throwing, as callers of a promise expect. */
function withPromises(budget: PolicyBudget): Budget {
  return {
    reserve: (attributes, estimate, isRenewed) =>
      promised(() => budget.reserve(attributes, estimate, isRenewed)),
    settle: (id, actual) => promised(() => budget.settle(id, actual)),
    extend: (id) => promised(() => budget.extend(id)),
    cancel: (id) => promised(() => budget.cancel(id)),
    enter: (attributes, cost, isRenewed) =>
      promised(() => budget.enter(attributes, cost, isRenewed)),
    leave: (id) => promised(() => budget.leave(id)),
    countFailure: (attributes) => promised(() => budget.countFailure(attributes)),
    close: () => promised(() => budget.close()),
  }
}

/** The promise of a call as it is: an `async` function would put three turns of the microtask queue around it. */
function promised<T>(call: () => MaybePromise<T>): Promise<T> {
  try {
    return Promise.resolve(call())
  } catch (error) {
    return Promise.reject(error as Error)
  }
}
