// Set-ups that limit no requests, or not those that were meant, reported when a limiter is made: durations that were meant as seconds,
// two bare limits on one count, and a limiter for each request.
import { helpAt } from '../errors.ts'
import type { Limit, LimitInput } from '../limit/limit.ts'
import type { LimitFunction, PolicyInCode } from '../policy/policy.ts'
import type { Store } from '../stores/store.ts'
import { logLimiterWarning, type LimiterWarning } from './skipped-rules.ts'

/** Numbers of seconds that people write for half an hour up to a month. */
const IN_SECONDS = [1800, 3600, 7200, 10_800, 14_400, 21_600, 43_200, 86_400, 604_800, 2_592_000]
/** Limiters with counts of their own, at once, from which on they are probably made for each request. */
const MANY = 1000

/** Warnings that were written to the console already. */
const reported = new Set<string>()
/** The bare limit that counts on a store, while its limiter is open. */
const bareLimits = new WeakMap<Store, Limit>()
let ownStores = 0

type Report = (code: LimiterWarning['code'], message: string) => void

function reporter(onWarning: ((warning: LimiterWarning) => void) | undefined): Report {
  return (code, message) => {
    if (onWarning === undefined) {
      if (reported.has(message)) return
      reported.add(message)
    }
    try {
      const help = helpAt('reference/http/warnings', code)
      ;(onWarning ?? logLimiterWarning)({ code, message, help })
    } catch {
      // A listener that fails must not fail the start.
    }
  }
}

/** The parts of a limiter that are checked for probable mistakes. */
export interface LimiterSetUp {
  readonly policy: PolicyInCode
  /** The limit, if it is a bare one that is no function. */
  readonly bare: Limit | undefined
  /** The store that was given. */
  readonly store: Store | undefined
  readonly onWarning: ((warning: LimiterWarning) => void) | undefined
}

/** Reports probable mistakes. Call the returned function when the limiter is closed. */
export function noteLimiter({ policy, bare, store, onWarning }: LimiterSetUp): () => void {
  const report = reporter(onWarning)
  for (const [name, value] of durationsOf(policy))
    if (typeof value === 'number' && (value < 1000 || IN_SECONDS.includes(value)))
      report(
        'bare-duration',
        `${name} is ${value} milliseconds; write '${value}s' for seconds, or '${value}ms'`,
      )
  if (store === undefined) {
    ownStores += 1
    if (ownStores === MANY)
      report(
        'limiters-many',
        `${MANY} limiters with counts of their own are open: a limiter that is made for each request refuses none; make it once, outside of the request handler, or close those that are done`,
      )
    let isOpen = true
    return () => {
      if (isOpen) ownStores -= 1
      isOpen = false
    }
  }
  if (bare === undefined) return () => {}
  const other = bareLimits.get(store)
  if (other === undefined) bareLimits.set(store, bare)
  else if (isSharing(other, bare))
    report(
      'counts-shared',
      `two bare limits, ${rate(other)} and ${rate(bare)}, count on one store by the same keys: what one takes is missing in the other; give each a policy with a name of its own, or a store with a prefix of its own`,
    )
  return () => {
    if (bareLimits.get(store) === bare) bareLimits.delete(store)
  }
}

/** Whether two limits have one count for a key, and differ. */
function isSharing(a: Limit, b: Limit): boolean {
  return (
    a.algorithm === b.algorithm &&
    a.window === b.window &&
    (a.quota !== b.quota || a.burst !== b.burst)
  )
}

function rate({ quota, window }: Limit): string {
  return `${quota}/${window % 1000 === 0 ? `${window / 1000}s` : `${window}ms`}`
}

/** The durations of a policy, as they are written. */
function durationsOf({ rules }: PolicyInCode): readonly (readonly [string, unknown])[] {
  return rules.flatMap(({ limit, tiers, overrides = [], lockout, candidate, pools = [] }) => {
    const limits: readonly (LimitInput | LimitFunction | undefined)[] = [
      limit,
      ...Object.values(tiers?.limits ?? {}),
      ...overrides.map((override) => override.limit),
      candidate,
      ...pools.map((pool) => pool.limit),
    ]
    return [
      ...limits.map((one) => ['window', typeof one === 'object' ? one.window : undefined] as const),
      ['for', lockout?.for] as const,
    ]
  })
}
