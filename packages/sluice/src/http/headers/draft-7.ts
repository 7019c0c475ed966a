// The dialect of draft 7: one RateLimit dictionary for the tightest limit, and a list of policies.
import { integerItem, secondsItem } from './structured-fields.ts'
import { quotaOf, resetOf, tightest, type Dialect } from './dialect.ts'
import { policyList } from './policy-list.ts'

/** Makes the dialect. */
export function draft7(): Dialect {
  return {
    fields: ['RateLimit-Policy', 'RateLimit'],
    write(port, response, outcomes) {
      const outcome = tightest(outcomes)
      const before = /(?:^|[ ,])remaining=(\d+)/.exec(port.get(response, 'RateLimit') ?? '')?.[1]
      if (before !== undefined && Number(before) < outcome.remaining) return
      const limit = `limit=${integerItem(quotaOf(outcome.limit))}`
      const rest = `remaining=${integerItem(outcome.remaining)}, reset=${secondsItem(resetOf(outcome))}`
      port.set(response, 'RateLimit-Policy', policyList(outcomes))
      port.set(response, 'RateLimit', `${limit}, ${rest}`)
    },
  }
}
