// Makes limiters: from one limit or a policy, on any store.
import type { DecideOptions, IdentifyRefusal, OnDecision } from '../decision/decide.ts'
import { show, SluiceError } from '../errors.ts'
import { limit as limitOf, type LimitInput } from '../limit/limit.ts'
import { OptionReader } from '../options/option-reader.ts'
import { compilePolicy } from '../policy/compile.ts'
import { parsePolicyInCode } from '../policy/parse.ts'
import type { TypedPolicy } from '../policy/define-policy.ts'
import type { LimitFunction, PolicyInCode } from '../policy/policy.ts'
import {
  checkResilience,
  RESILIENCE_OPTIONS,
  type ResilienceOptions,
} from '../resilience/options.ts'
import { ResilientStore } from '../resilience/resilient-store.ts'
import { acquireResilient } from '../resilience/shared-resilience.ts'
import { withLockouts } from '../stores/lockouts.ts'
import { withPools } from '../stores/pools.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { AsyncStore, MaybePromise, RemoteStore, Store, SyncStore } from '../stores/store.ts'
import type { LimiterControls } from './controls.ts'
import { policyLimiter } from './fast-limiter.ts'
import { noteLimiter, type LimiterSetUp } from './set-up-warnings.ts'
import type { Limiter, SyncLimiter } from './limiter.ts'
import { blockedByOf, rememberPolicy } from './policy-of-limiter.ts'
import { withPromises } from './policy-limiter.ts'
import type { LimiterWarning } from './skipped-rules.ts'
import { withSlotPeeks } from './slot-peeks.ts'
import type { TypedLimiter, TypedSyncLimiter } from './typed-limiter.ts'

/**
 * Options of {@link createLimiter} besides the limit or the policy.
 *
 * @example
 * ```ts
 * const settings: LimiterSettings = { hashKeys: true, resilience: { timeout: 50 } }
 * ```
 */
export interface LimiterSettings<S extends Store = Store> {
  /** Where the counts live. Default: this process's memory. */
  readonly store?: S
  /** Keys hold hashes instead of the attributes' values. */
  readonly hashKeys?: boolean
  /** What happens when a remote store is slow, unreachable or wrong; false: its errors reject. Default: see the options. */
  readonly resilience?: ResilienceOptions | false
  /** Called after each decision, with how long it took. Costs nothing when absent. */
  readonly onDecision?: OnDecision
  /** Whether to measure the next decision for `onDecision`; the others are passed NaN. Default: always. */
  readonly isTimed?: () => boolean
  /** Makes the `id` of each refusal, which problem details and a journal carry. */
  readonly identify?: IdentifyRefusal
  /** How long some attributes are still blocked, in milliseconds; undefined when they are not. */
  readonly blocked?: DecideOptions['blocked']
  /** Which attributes `blocked` reads now, which adapters then read too; another set after a change. Default: all of them. */
  readonly blockedBy?: DecideOptions['blockedBy']
  /** Receives probable mistakes of the set-up, each once. Default: the console. */
  readonly onWarning?: (warning: LimiterWarning) => void
}

/**
 * One limit for the attribute `key`, or for the string given to `check`; a function of the attributes chooses one per
 * request. A policy replaces it; the two exclude each other.
 *
 * @example
 * ```ts
 * const option: LimitOption = { limit: '100/min' }
 * ```
 */
export interface LimitOption {
  readonly limit: LimitInput | LimitFunction
  readonly policy?: never
}

/**
 * A policy of several rules, each with its own limit.
 *
 * @example
 * ```ts
 * const option: PolicyOption = { policy }
 * ```
 */
export interface PolicyOption<P extends PolicyInCode = PolicyInCode> {
  readonly policy: P
  readonly limit?: never
}

/**
 * What a limiter is made from: a limit or a policy, and where its counts live.
 *
 * @example
 * ```ts
 * const options: LimiterOptions = { limit: '100/min', store: redisStore(client) }
 * ```
 */
export type LimiterOptions<
  S extends Store = Store,
  P extends PolicyInCode = PolicyInCode,
> = LimiterSettings<S> & (LimitOption | PolicyOption<P>)

/**
 * The limiter of a store and a policy: on a {@link SyncStore} it answers at once, with {@link TypedPolicy} by known attributes.
 *
 * @example
 * ```ts
 * const limiter: LimiterFor<AsyncStore, Policy> = createLimiter({ policy, store: redisStore(client) })
 * ```
 */
export type LimiterFor<S extends Store, P extends PolicyInCode> = LimiterControls &
  PlainLimiterFor<S, P>

type PlainLimiterFor<S extends Store, P extends PolicyInCode> = [P] extends [TypedPolicy<infer A>]
  ? S extends SyncStore
    ? TypedSyncLimiter<A>
    : S extends AsyncStore
      ? TypedLimiter<A>
      : TypedLimiter<A> | TypedSyncLimiter<A>
  : S extends SyncStore
    ? SyncLimiter
    : S extends AsyncStore
      ? Limiter
      : Limiter | SyncLimiter

const WRITE =
  "write createLimiter({ limit: '100/min' }) or createLimiter({ policy: { name, rules } })"
/** The options that are functions. */
const FUNCTIONS = [
  'onDecision',
  'isTimed',
  'identify',
  'blocked',
  'blockedBy',
  'onWarning',
] as const
const OPTIONS = ['limit', 'policy', 'store', 'hashKeys', 'resilience', ...FUNCTIONS]

/**
 * Makes a limiter. On the memory store it answers at once, on a remote store by promises; where the types do not
 * say which, `await` works for both.
 *
 * @example
 * ```ts
 * const limiter = createLimiter({ limit: '100/min' })
 * const { allowed, retryAfter } = limiter.check('user:42')
 * ```
 */
export function createLimiter<S extends Store = SyncStore, P extends PolicyInCode = PolicyInCode>(
  options: LimiterOptions<S, P>,
): LimiterFor<S, P> {
  checkOptions(options)
  const policy = parsePolicyInCode(
    options.policy === undefined ? policyOf(options.limit!) : options.policy,
  )
  const { hashKeys = false, blocked, onDecision, isTimed, identify } = options
  checkCoordination(policy, options.store)
  const { store: innerStore, release } = storeFor(options)
  const unregister = noteLimiter(setUpOf(options, policy))
  if (!('exchange' in innerStore)) refuseHolds(policy)
  const hasLockouts = policy.rules.some(({ lockout }) => lockout !== undefined)
  const hasPools = policy.rules.some(({ pools }) => pools !== undefined)
  const lockoutStore = hasLockouts ? withLockouts(innerStore) : innerStore
  const poolStore = hasPools ? withPools(lockoutStore) : lockoutStore
  const hasSlots = policy.rules.some(({ concurrency }) => concurrency !== undefined)
  const store = hasSlots ? withSlotPeeks(poolStore, options.onWarning) : poolStore
  const limiter = policyLimiter({
    rules: compilePolicy(policy),
    policy,
    hashKeys,
    isBareLimit: options.limit !== undefined,
    onWarning: options.onWarning,
    decideOptions: { store, blocked, onDecision, isTimed, identify },
    release: () => {
      unregister()
      return release()
    },
  })
  const publicLimiter =
    store.sync === true
      ? (limiter as unknown as SyncLimiter & LimiterControls)
      : withPromises(limiter)
  rememberPolicy(publicLimiter, {
    policy,
    controlled: limiter,
    blockedBy: blockedByOf(options),
  })
  return publicLimiter as LimiterFor<S, P>
}

/** The set-up that is checked for probable mistakes, with durations as they are written, which a parsed limit no longer has. */
function setUpOf(options: LimiterOptions, policy: PolicyInCode): LimiterSetUp {
  const { limit, store, onWarning } = options
  const bare = typeof limit === 'function' || limit === undefined ? undefined : limitOf(limit)
  const written =
    options.policy ??
    ({ ...policy, rules: policy.rules.map((rule) => ({ ...rule, limit: limit! })) } as PolicyInCode)
  return { policy: written, bare, store, onWarning }
}

/** The store that a limiter decides by, and what it releases when it is closed. */
function storeFor({ store, resilience = {} }: LimiterSettings): {
  readonly store: Store
  readonly release: () => MaybePromise<void>
} {
  if (store === undefined) {
    const memory = memoryStore()
    return { store: memory, release: () => memory.close() }
  }
  if (store.sync === true || store instanceof ResilientStore || resilience === false)
    return { store, release: () => {} }
  return acquireResilient(store as RemoteStore, resilience)
}

/** Throws if a rule has holds, which this store does not keep: its counts would silently be separate from the budget's. */
function refuseHolds({ rules }: PolicyInCode): void {
  const rule = rules.find(({ hold }) => hold !== undefined)
  if (rule === undefined) return
  throw new SluiceError(
    'invalid-option',
    `createLimiter: rule ${show(rule.name)} has hold, and the store keeps no holds; use createBudget of sluice/budgets, or withHolds(memoryStore()) as store`,
  )
}

/** Throws when a rule shares its counts in a way that the store does not offer. */
function checkCoordination({ rules }: PolicyInCode, store: Store = OWN_STORE): void {
  if (store.sync === true || (store as AsyncStore).coordinates === true) return
  const rule = rules.find(({ coordination = 'strict' }) => coordination !== 'strict')
  if (rule === undefined) return
  throw new SluiceError(
    'invalid-option',
    `createLimiter: rule ${show(rule.name)} has coordination ${show(rule.coordination)}, but the store counts strictly; accepted: store: withCoordination(store) from 'sluice/coordination', or coordination: strict`,
  )
}

/** The policy of a bare limit. */
function policyOf(input: LimitInput | LimitFunction): PolicyInCode {
  const limit = typeof input === 'function' ? input : limitOf(input)
  return { name: 'default', rules: [{ name: 'default', by: ['key'], limit }] }
}

function checkOptions(options: LimiterOptions): void {
  const reader = new OptionReader('createLimiter', options, OPTIONS, WRITE)
  if (options.limit === undefined && options.policy === undefined)
    reader.fail(`neither limit nor policy is given; ${WRITE}`)
  if (options.limit !== undefined && options.policy !== undefined)
    reader.fail(
      'both limit and policy are given; accepted: one of them, as a policy has its own limits',
    )
  const { store, resilience } = options
  const isStore = typeof store === 'object' && store !== null && typeof store.take === 'function'
  if (store !== undefined && !isStore)
    reader.wrong('store', store, 'memoryStore(), redisStore(client) or another Store')
  reader.flag('hashKeys', options.hashKeys, false)
  for (const name of FUNCTIONS) reader.callable<unknown>(name, options[name], undefined)
  if (resilience === undefined || resilience === false) return
  if (typeof resilience !== 'object' || resilience === null)
    reader.wrong(
      'resilience',
      resilience,
      `false, or an object with ${RESILIENCE_OPTIONS.join(', ')}`,
    )
  if (store instanceof ResilientStore)
    reader.fail(
      'resilience: the store has its own; accepted: nothing, or a store without withResilience',
    )
  checkResilience('createLimiter: resilience', resilience, store ?? OWN_STORE)
}

/** Stands for the memory store that a limiter makes by itself. */
const OWN_STORE = { sync: true } as SyncStore
