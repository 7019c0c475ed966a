// A limiter on rules with slots: a check cannot free a slot later, so it takes none. It is refused while all of them are taken.
import type { RuleCheck } from '../decision/lazy-decision.ts'
import { helpAt } from '../errors.ts'
import type { Verdict } from '../limit/verdict.ts'
import { isPromise, type Check, type MaybePromise, type Store } from '../stores/store.ts'
import { logLimiterWarning, type LimiterWarning } from './skipped-rules.ts'

/**
 * Peeks at the slots before each take: nothing is charged if a rule has none free. That is one more call to the
 * store, for requests to which a rule with `concurrency` applies. Reports once for each rule that a check
 * has found all slots free, since then probably nothing takes them.
 */
export function withSlotPeeks(
  store: Store,
  onWarning: (warning: LimiterWarning) => void = logLimiterWarning,
): Store {
  const reported = new Set<string>()
  const report = (check: Check, { remaining }: Verdict): void => {
    const { name } = (check as RuleCheck).rule
    if (remaining < check.limit.burst || reported.has(name)) return
    reported.add(name)
    try {
      onWarning(warningAbout(name))
    } catch {
      // A listener that fails must not fail a request.
    }
  }
  const peekSlots = (checks: readonly Check[]): MaybePromise<readonly Verdict[]> =>
    store.peek(checks.map((check) => (isSlotCheck(check) ? { ...check, cost: 1 } : check)))
  return {
    ...(store.sync === true ? { sync: true } : {}),
    take(checks) {
      if (!checks.some(isSlotCheck)) return store.take(checks)
      const decide = (peeked: readonly Verdict[]): MaybePromise<readonly Verdict[]> => {
        let isFull = false
        for (const [i, check] of checks.entries()) {
          if (!isSlotCheck(check)) continue
          report(check, peeked[i]!)
          if (!peeked[i]!.allowed && check.shadow !== true) isFull = true
        }
        return isFull ? peeked : store.take(checks)
      }
      const peeked = peekSlots(checks)
      return isPromise(peeked) ? peeked.then(decide) : decide(peeked)
    },
    peek: peekSlots,
    refund: (checks) => store.refund(checks),
    reset: (checks) => store.reset(checks),
    close: () => store.close(),
  }
}

/** Whether a check is one of a rule with slots. */
function isSlotCheck(check: Check): boolean {
  const { rule } = check as Partial<RuleCheck>
  return rule !== undefined && 'concurrency' in rule && rule.concurrency !== undefined
}

function warningAbout(rule: string): LimiterWarning {
  return {
    code: 'slots-not-taken',
    message: `rule ${rule} has concurrency, and check takes no slot: it is refused only while others hold all of them; take and free slots by enter and leave (createBudget, or /v1/enter and /v1/leave of the service)`,
    help: helpAt('reference/http/warnings', 'slots-not-taken'),
  }
}
