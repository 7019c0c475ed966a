// The policies of the older drafts: quotas with their windows.
import type { VisibleOutcome } from '../../decision/lazy-decision.ts'
import { quotaOf, windowOf } from './dialect.ts'
import { integerItem } from './structured-fields.ts'

/** `100;w=60, 1000;w=3600`. A quota is listed once: those drafts allow no second policy of the same number. */
export function policyList(outcomes: readonly VisibleOutcome[]): string {
  const byQuota = new Map<number, string>()
  for (const { limit } of outcomes) {
    const quota = integerItem(quotaOf(limit))
    if (!byQuota.has(quota)) byQuota.set(quota, `${quota};w=${windowOf(limit)}`)
  }
  return [...byQuota.values()].join(', ')
}
