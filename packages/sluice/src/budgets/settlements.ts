// What a settlement says of all rules of a reservation together.
import type { Settled } from '../stores/holds/hold-store.ts'
import type { Millis } from '../time/clock.ts'

/**
 * What a settlement did in the count of one rule.
 *
 * @example
 * ```ts
 * const text = ({ rule, charged }: SettledRule) => `${rule}: ${charged}`
 * ```
 */
export interface SettledRule extends Settled {
  readonly rule: string
}

/**
 * The answer to `settle`, `extend` and `cancel`.
 *
 * @example
 * ```ts
 * const { status, charged }: Settlements = await budget.settle(reservation.id, 870)
 * ```
 */
export interface Settlements {
  /**
   * As of the rule whose status says most: settled, late, repeated. `pending`: the store is unreachable, and the
   * settlement is tried again until it answers. `degraded`: the store had not answered `reserve`, and the fallback
   * has charged the estimate. `no-rule`: no rule with `hold` applied to the reservation, and nothing is charged.
   */
  readonly status: Settled['status'] | 'pending' | 'degraded' | 'no-rule'
  /** The largest charge among the rules. */
  readonly charged: number
  /** The largest part of the cost that no rule had room for. */
  readonly uncharged: number
  /** The largest debt among the rules. */
  readonly debt: number
  /** When the first hold that is left ends; 0 when none is. */
  readonly endsAt: Millis
  readonly rules: readonly SettledRule[]
}

const STATUSES: readonly Settled['status'][] = ['settled', 'late', 'repeated', 'unknown']

/** The rule whose status says most decides the status; of the numbers, the largest. */
export function summary(settled: readonly Settled[], names: readonly string[]): Settlements {
  const rules = new Array<SettledRule>(settled.length)
  let first = STATUSES.length - 1
  let charged = 0
  let uncharged = 0
  let debt = 0
  let endsAt = 0
  for (let i = 0; i < settled.length; i++) {
    const one = settled[i]!
    first = Math.min(first, STATUSES.indexOf(one.status))
    charged = Math.max(charged, one.charged)
    uncharged = Math.max(uncharged, one.uncharged)
    debt = Math.max(debt, one.debt)
    if (one.endsAt > 0) endsAt = endsAt === 0 ? one.endsAt : Math.min(endsAt, one.endsAt)
    // The answer is this call's own: a copy would cost more.
    const named = one as Settled & { rule: string }
    named.rule = names[i]!
    rules[i] = named
  }
  return { status: STATUSES[first]!, charged, uncharged, debt, endsAt, rules }
}

const NOTHING: Omit<Settlements, 'status'> = {
  charged: 0,
  uncharged: 0,
  debt: 0,
  endsAt: 0,
  rules: [],
}

/** The answer for a reservation that only the fallback knows. */
export function degradedSettlements(units: number): Settlements {
  return { ...NOTHING, status: 'degraded', charged: units }
}

/** The answer for a reservation to which no rule with holds applied, such as one without the attribute that it counts by. */
export const NO_RULE: Settlements = { ...NOTHING, status: 'no-rule' }

/** The answer while the store is unreachable. */
export const PENDING: Settlements = { ...NOTHING, status: 'pending' }
