// The older dialects of three fields: RateLimit-* of drafts 3 and 6, and X-RateLimit-*.
import type { VisibleOutcome } from '../../decision/lazy-decision.ts'
import { quotaOf, resetOf, saysLess, tightest, type Dialect } from './dialect.ts'
import { policyList } from './policy-list.ts'
import { integerItem, secondsItem } from './structured-fields.ts'

/** Draft 6: three fields in whole numbers, seconds from now, and a list of policies. */
export function draft6(): Dialect {
  return trio('RateLimit', secondsFromNow, (outcomes, quota) => ({
    limit: quota,
    policy: policyList(outcomes),
  }))
}

/** Draft 3: the policies stand behind the limit. */
export function draft3(): Dialect {
  return trio('RateLimit', secondsFromNow, (outcomes, quota) => ({
    limit: `${quota}, ${policyList(outcomes)}`,
  }))
}

/** X-RateLimit-*, the reset as seconds since the epoch: what GitHub's clients read. */
export function legacy(): Dialect {
  return trio('X-RateLimit', sinceEpoch, (_, quota) => ({ limit: quota }))
}

/** X-RateLimit-*, the reset as seconds from now. */
export function legacyDelta(): Dialect {
  return trio('X-RateLimit', secondsFromNow, (_, quota) => ({ limit: quota }))
}

function trio(
  prefix: string,
  reset: (millis: number) => number,
  limits: (
    outcomes: readonly VisibleOutcome[],
    quota: string,
  ) => { limit: string; policy?: string },
): Dialect {
  const names = {
    limit: `${prefix}-Limit`,
    remaining: `${prefix}-Remaining`,
    reset: `${prefix}-Reset`,
  }
  const textOfQuota = textOfLast()
  const textOfReset = textOfLast()
  return {
    fields: [...Object.values(names), ...(prefix === 'RateLimit' ? ['RateLimit-Policy'] : [])],
    write(port, response, outcomes) {
      const outcome = tightest(outcomes)
      if (saysLess(port.get(response, names.remaining), outcome)) return
      const { limit, policy } = limits(outcomes, textOfQuota(integerItem(quotaOf(outcome.limit))))
      port.set(response, names.limit, limit)
      port.set(response, names.remaining, String(integerItem(outcome.remaining)))
      port.set(response, names.reset, textOfReset(reset(resetOf(outcome))))
      if (policy !== undefined) port.set(response, 'RateLimit-Policy', policy)
    },
  }
}

function secondsFromNow(millis: number): number {
  return secondsItem(millis)
}

/** By this machine's wall clock, which the `Date` field tells too. */
function sinceEpoch(millis: number): number {
  return secondsItem(Date.now() + millis)
}

/** Numbers as texts. Most are the one before, whose text is sent again: half as dear as a new one. */
function textOfLast(): (value: number) => string {
  let last = 0
  let text = '0'
  return (value) => {
    if (value === last) return text
    last = value
    return (text = String(value))
  }
}
