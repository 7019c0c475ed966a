// Budgets and slots of one policy: holds on all of its rules at once, settled by id.
import { decide, type DecideOptions, type DecisionRequest } from '../decision/decide.ts'
import type { Decision } from '../decision/decision.ts'
import type { RuleCheck } from '../decision/lazy-decision.ts'
import { SluiceError } from '../errors.ts'
import { parseAttributes } from '../limiter/policy-limiter.ts'
import { matchRules, requireCost } from '../limiter/match-rules.ts'
import type { CompiledRule } from '../policy/compile.ts'
import { attributeText } from '../policy/pattern.ts'
import type { Attributes, RuleInCode } from '../policy/policy.ts'
import type { Exchanged, HoldStore, Settled, Settlement } from '../stores/holds/hold-store.ts'
import { isPromise, type Check, type Hold, type MaybePromise, type Store } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import type { Timers } from '../time/timers.ts'
import { Estimates } from './estimates.ts'
import { newHoldId, readId, unknownReservation, writeId } from './reservation-id.ts'
import { isTransient, PendingSettlements } from './pending-settlements.ts'
import { SlotRenewals } from './slot-renewals.ts'

/** Tokens by kind, weighed by each rule's `weights`; kinds that are not given are 0. */
export interface Usage {
  readonly input?: number
  readonly cached?: number
  readonly output?: number
}

/** The answer to `reserve`. When it is refused, nothing is held and the id is ''. */
export interface Reservation {
  readonly allowed: boolean
  /** Names the reservation in `settle`, `extend` and `cancel`, in any process with the same policy and store. */
  readonly id: string
  /** Units that are held: the estimate, at most the `holdShare` of the smallest limit. */
  readonly units: number
  /** When the first hold ends unless it is settled or extended, by the store's clock. */
  readonly endsAt: Millis
  readonly decision: Decision
}

/** What a settlement did in the count of one rule. */
export interface SettledRule extends Settled {
  readonly rule: string
}

/** The answer to `settle`, `extend` and `cancel`. */
export interface Settlements {
  /**
   * As of the rule whose status says most: settled, late, repeated. `pending`: the store is unreachable, and the
   * settlement is tried again until it answers. `degraded`: the store had not answered `reserve`, and the fallback
   * has charged the estimate.
   */
  readonly status: Settled['status'] | 'pending' | 'degraded'
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

/** A slot, or a refusal. It is renewed until `leave`, so that only a crash lets it end. */
export interface Slot {
  readonly allowed: boolean
  readonly id: string
  readonly decision: Decision
  /** Frees the slot; a second call does nothing. A slot that the store cannot free now comes free at its end. */
  leave(): void
}

/** Reserves, settles and enters on a remote store. */
export interface Budget {
  /**
   * Holds the estimate on every rule with `hold`, takes a slot of every rule with `concurrency`, and charges every other
   * rule its cost of one request: all or none, in one round trip. Default estimate: the 95th percentile of the last
   * actual costs of the rule and, if there is one, the attribute `model`.
   */
  reserve(attributes: Attributes | string, estimate?: number): Promise<Reservation>
  /** Charges what it really cost, frees the rest, and leaves the slots. Repeated, it charges once. */
  settle(id: string, actual: number | Usage): Promise<Settlements>
  /** Moves the end of the holds to one `hold` from now. */
  extend(id: string): Promise<Settlements>
  /** Frees everything. */
  cancel(id: string): Promise<Settlements>
  /**
   * Takes a slot of every rule with `concurrency`, and charges every rule without `hold`. The slot is renewed
   * until it is left, unless `isRenewed` is false: then `extend` renews it.
   */
  enter(attributes: Attributes | string, cost?: number, isRenewed?: boolean): Promise<Slot>
  /** Frees a slot by its id, for callers that do not have the slot itself. */
  leave(id: string): Promise<void>
  /** Ends the renewal of slots; those that were not left come free at their end. */
  close(): Promise<void>
}

/** A {@link Budget} in this process's memory, which answers at once. */
export interface SyncBudget {
  reserve(attributes: Attributes | string, estimate?: number): Reservation
  settle(id: string, actual: number | Usage): Settlements
  extend(id: string): Settlements
  cancel(id: string): Settlements
  enter(attributes: Attributes | string, cost?: number, isRenewed?: boolean): Slot
  leave(id: string): void
  close(): void
}

/** What a policy budget is made from. */
export interface PolicyBudgetOptions {
  readonly name: string
  readonly rules: readonly CompiledRule[]
  readonly hashKeys: boolean
  readonly store: HoldStore
  readonly deciding: Omit<DecideOptions, 'store'>
  readonly timers: Timers
  readonly release: () => MaybePromise<void>
}

/** The part of the limit that a reservation holds at most, unless the rule says another. */
const HOLD_SHARE = 0.5
/** The part of the limit that is reserved while nothing is known of actual costs. */
const FIRST_ESTIMATE = 0.05
/** Milliseconds after the end of a reservation for which its settlement is still a plain charge. */
const LATE = 600_000
const ALL = Number.MAX_SAFE_INTEGER

/** Holds by compiled rules. Answers at once on a synchronous store, else by promises. */
export class PolicyBudget {
  private readonly options: PolicyBudgetOptions
  private readonly estimates = new Estimates()
  private readonly renewals: SlotRenewals
  private readonly pending: PendingSettlements
  private readonly deciding: DecideOptions
  private isClosed = false

  constructor(options: PolicyBudgetOptions) {
    this.options = options
    const { store, timers } = options
    const shortest = smallest(
      options.rules.flatMap(({ rule }) => (isSlot(rule) ? [rule.hold as Millis] : [])),
    )
    this.renewals = new SlotRenewals(
      (settlements) => store.exchange(settlements, []),
      timers,
      shortest,
    )
    this.pending = new PendingSettlements((settlements) => store.exchange(settlements, []), timers)
    this.deciding = { ...options.deciding, store: takingFrom(store) }
  }

  reserve(input: Attributes | string, estimate?: number): MaybePromise<Reservation> {
    if (estimate !== undefined) requireCost('estimate', estimate)
    const attributes = parseAttributes(input, 'any')
    const hold = newHoldId()
    let units = 0
    const request = this.match(attributes, 1, (check, rule) => {
      if (isSlot(rule)) return slotCheck(check, rule, hold)
      const wanted = estimate ?? this.estimates.of(nameOf(rule, attributes))
      const share = Math.floor(check.limit.burst * (rule.holdShare ?? HOLD_SHARE))
      const first = Math.floor(check.limit.burst * FIRST_ESTIMATE)
      const cost = Math.max(1, Math.min(wanted ?? first, share))
      units = Math.max(units, cost)
      return holding(check, cost, {
        id: hold,
        life: rule.hold as Millis,
        onEnd: 'free',
        late: LATE,
      })
    })
    return after(decide(request, this.deciding), (decision) =>
      reservationOf(request, decision, { hold, policy: this.options.name, attributes, units }),
    )
  }

  settle(id: string, actual: number | Usage): MaybePromise<Settlements> {
    checkActual(actual)
    return this.book(id, (rule, attributes) => {
      if (isSlot(rule)) return NOTHING_SPENT
      const spent = costOf(actual, rule)
      this.estimates.note(nameOf(rule, attributes), spent)
      return { spent, keep: 0 }
    })
  }

  extend(id: string): MaybePromise<Settlements> {
    return this.book(id, (rule) => ({ spent: 0, keep: ALL, life: rule.hold as Millis }))
  }

  cancel(id: string): MaybePromise<Settlements> {
    return this.book(id, () => NOTHING_SPENT)
  }

  enter(input: Attributes | string, cost = 1, isRenewed = true): MaybePromise<Slot> {
    requireCost('cost', cost)
    const attributes = parseAttributes(input, 'any')
    const hold = newHoldId()
    const request = this.match(attributes, cost, (check, rule) =>
      isSlot(rule) ? slotCheck(check, rule, hold) : undefined,
    )
    return after(decide(request, this.deciding), (decision) =>
      this.slotOf(request, decision, { hold, attributes, isRenewed }),
    )
  }

  leave(id: string): MaybePromise<void> {
    this.renewals.remove(readId(id, this.options.name).hold)
    return after(
      this.tryBook(id, () => NOTHING_SPENT),
      () => {},
    )
  }

  close(): MaybePromise<void> {
    this.isClosed = true
    this.renewals.close()
    this.pending.close()
    return this.options.release()
  }

  private slotOf(
    { checks }: DecisionRequest,
    decision: Decision,
    { hold, attributes, isRenewed }: { hold: string; attributes: Attributes; isRenewed: boolean },
  ): Slot {
    const held = checks.filter((check) => check.hold !== undefined)
    if (!decision.allowed || held.length === 0)
      return { allowed: decision.allowed, id: '', decision, leave: () => {} }
    const isDegraded = decision.degraded
    const endsAt = decision.at + smallest(held.map((check) => check.hold!.life))
    const id = writeId({
      hold,
      policy: this.options.name,
      attributes,
      units: 0,
      isDegraded,
      endsAt,
    })
    if (isDegraded) return { allowed: true, id, decision, leave: () => {} }
    const settlements = held.map((check) => settlementOf(check, hold))
    if (isRenewed)
      this.renewals.add(
        hold,
        settlements.map((one, i) => ({ ...one, keep: ALL, life: held[i]!.hold!.life })),
      )
    let isLeft = false
    const leave = (): void => {
      if (isLeft) return
      isLeft = true
      this.renewals.remove(hold)
      const freed = this.options.store.exchange(settlements, [])
      if (isPromise(freed)) freed.catch(() => {})
    }
    return { allowed: true, id, decision, leave }
  }

  private book(
    id: string,
    bookingOf: (rule: RuleInCode, attributes: Attributes) => Booking,
  ): MaybePromise<Settlements> {
    return after(this.tryBook(id, bookingOf), (settlements) => {
      const { rules, status } = settlements
      if (status === 'unknown' || (rules.length === 0 && status === 'settled'))
        throw unknownReservation(
          'the store has no such reservation: it was settled, or it ended long ago; nothing is charged',
        )
      return settlements
    })
  }

  private tryBook(
    id: string,
    bookingOf: (rule: RuleInCode, attributes: Attributes) => Booking,
  ): MaybePromise<Settlements> {
    const { store, name } = this.options
    const { hold, attributes, units, isDegraded } = readId(id, name)
    const settlements: Settlement[] = []
    const rules: string[] = []
    for (const check of this.matched(attributes, 1).checks) {
      if (check.holds !== true) continue
      const rule = check.rule as RuleInCode
      rules.push(rule.name)
      settlements.push(settlementOf(check, hold, bookingOf(rule, attributes), debtOf(rule, check)))
    }
    // The fallback has charged the estimate to this process's share.
    if (isDegraded) return degradedSettlements(units)
    const answered = ({ settled }: Exchanged): Settlements => summary(settled, rules)
    const exchanged = store.exchange(settlements, [])
    if (!isPromise(exchanged)) return answered(exchanged)
    return exchanged.then(answered, (error: unknown) => {
      if (!isTransient(error)) throw error
      this.pending.add(hold, settlements)
      return { ...NOTHING, status: 'pending' }
    })
  }

  /** The checks of a request; those with holds as `held` makes them, or left out. */
  private match(
    attributes: Attributes,
    cost: number,
    held: (check: RuleCheck, rule: RuleInCode) => RuleCheck | undefined,
  ): DecisionRequest {
    const request = this.matched(attributes, cost)
    const checks: RuleCheck[] = []
    for (const check of request.checks) {
      const made = check.holds === true ? held(check, check.rule as RuleInCode) : check
      if (made !== undefined) checks.push(made)
    }
    return { attributes: request.attributes, checks, skipped: request.skipped }
  }

  private matched(attributes: Attributes, cost: number): DecisionRequest {
    const { rules, hashKeys } = this.options
    if (this.isClosed)
      throw new SluiceError(
        'limiter-closed',
        'the budget is closed; make a new one, or close it later',
      )
    return matchRules(rules, attributes, cost, hashKeys)
  }
}

/** What is booked on one rule. */
type Booking = Pick<Settlement, 'spent' | 'keep' | 'life'>

const NOTHING_SPENT: Booking = { spent: 0, keep: 0 }

function isSlot(rule: RuleInCode): boolean {
  return rule.concurrency !== undefined
}

function slotCheck(check: RuleCheck, rule: RuleInCode, id: string): RuleCheck {
  return holding(check, 1, { id, life: rule.hold as Millis, onEnd: 'free' })
}

/** The check of a hold. Field by field: a spread costs as much as the rest of a reservation. */
function holding(check: RuleCheck, cost: number, hold: Hold): RuleCheck {
  const { space, key, limit, slowestQuota, shadow, countRefused, onStoreFailure, rule } = check
  return {
    space,
    key,
    limit,
    cost,
    slowestQuota,
    holds: true,
    hold,
    shadow: shadow ?? false,
    countRefused: countRefused ?? false,
    onStoreFailure: onStoreFailure!,
    rule,
  }
}

function settlementOf(
  { space, key, limit, slowestQuota }: Check,
  id: string,
  { spent, keep, life }: Booking = NOTHING_SPENT,
  debt = 0,
): Settlement {
  return { space, key, limit, slowestQuota, id, spent, keep, life, debt }
}

function debtOf({ debt }: RuleInCode, { limit }: Check): number {
  return debt === true ? limit.burst : debt === false || debt === undefined ? 0 : debt
}

/** Costs are remembered by rule and, where it is known, by model. */
function nameOf(rule: RuleInCode, attributes: Attributes): string {
  return `${rule.name}\n${attributeText(attributes, 'model') ?? ''}`
}

function checkActual(actual: number | Usage): void {
  if (typeof actual !== 'object' || actual === null) return requireCost('actual', actual)
  for (const [kind, tokens] of Object.entries(actual)) requireCost(`actual.${kind}`, tokens)
}

function costOf(actual: number | Usage, { weights = {} }: RuleInCode): number {
  if (typeof actual === 'number') return actual
  const { input = 0, cached = 0, output = 0 } = actual
  const sum =
    input * (weights.input ?? 1) + cached * (weights.cached ?? 1) + output * (weights.output ?? 1)
  return Math.min(ALL, Math.ceil(sum))
}

function reservationOf(
  { checks }: DecisionRequest,
  decision: Decision,
  data: { hold: string; policy: string; attributes: Attributes; units: number },
): Reservation {
  if (!decision.allowed) return { allowed: false, id: '', units: 0, endsAt: 0, decision }
  let life = Infinity
  for (const { hold } of checks) if (hold !== undefined) life = Math.min(life, hold.life)
  const holdsNothing = life === Infinity
  const { hold, policy, attributes, units } = data
  const isDegraded = decision.degraded || holdsNothing
  const endsAt = holdsNothing ? 0 : decision.at + life
  const id = writeId({ hold, policy, attributes, units, isDegraded, endsAt })
  return { allowed: true, id, units, endsAt, decision }
}

function smallest(numbers: readonly number[]): number {
  return numbers.reduce((least, number) => Math.min(least, number), Infinity)
}

const STATUSES: readonly Settled['status'][] = ['settled', 'late', 'repeated', 'unknown']

/** The rule whose status says most decides the status; of the numbers, the largest. */
function summary(settled: readonly Settled[], names: readonly string[]): Settlements {
  const rules: SettledRule[] = []
  let first = STATUSES.length - 1
  let [charged, uncharged, debt, endsAt] = [0, 0, 0, 0]
  for (const [i, one] of settled.entries()) {
    first = Math.min(first, STATUSES.indexOf(one.status))
    charged = Math.max(charged, one.charged)
    uncharged = Math.max(uncharged, one.uncharged)
    debt = Math.max(debt, one.debt)
    if (one.endsAt > 0) endsAt = endsAt === 0 ? one.endsAt : Math.min(endsAt, one.endsAt)
    rules.push(Object.assign(one, { rule: names[i]! }))
  }
  return { status: STATUSES[first]!, charged, uncharged, debt, endsAt, rules }
}

const NOTHING = { charged: 0, uncharged: 0, debt: 0, endsAt: 0, rules: [] }

function degradedSettlements(units: number): Settlements {
  return { ...NOTHING, status: 'degraded', charged: units }
}

/** A store whose `take` also takes holds, for {@link decide}. */
function takingFrom(store: HoldStore): Store {
  const take = (checks: readonly Check[]): MaybePromise<Exchanged['verdicts']> =>
    after(store.exchange([], checks), ({ verdicts }) => verdicts)
  return {
    take,
    peek: (checks) => store.peek(checks),
    refund: (checks) => store.refund(checks),
    reset: (checks) => store.reset(checks),
    close: () => store.close(),
  }
}

function after<T, U>(value: MaybePromise<T>, then: (value: T) => U): MaybePromise<U> {
  return isPromise(value) ? value.then(then) : then(value)
}
