// Budgets and slots of one policy: holds on all of its rules at once, settled by id.
import { decideWith, type DecideOptions, type DecisionRequest } from '../decision/decide.ts'
import type { Decision } from '../decision/decision.ts'
import type { RuleCheck } from '../decision/lazy-decision.ts'
import type { OnSettled } from '../decision/thresholds.ts'
import { SluiceError } from '../errors.ts'
import { failingChecks, parseAttributes } from '../limiter/policy-limiter.ts'
import { matchRules, requireCost } from '../limiter/match-rules.ts'
import type { CompiledRule } from '../policy/compile.ts'
import { attributeText } from '../key/key.ts'
import type { Attributes, RuleInCode } from '../policy/policy.ts'
import type { HoldStore, Settled, Settlement } from '../stores/holds/hold-store.ts'
import { mappedSettlements, type MappedSettlements } from '../stores/holds/mapped-holds.ts'
import { mapAnswer, isPromise, type MaybePromise } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import type { Timers } from '../time/timers.ts'
import { placeOfShare, shareOf, type SharedCheck } from './caller-shares.ts'
import { Estimates } from './estimates.ts'
import {
  debtOf,
  holdCheck,
  isSlot,
  NOTHING_SPENT,
  settlementOf,
  slotCheck,
  type Booking,
} from './hold-checks.ts'
import { newHoldId, readId, unknownReservation, writeId } from './reservation-id.ts'
import { isTransient, PendingSettlements } from './pending-settlements.ts'
import { RecentReservations } from './recent-reservations.ts'
import { degradedSettlements, NO_RULE, PENDING, summary, type Settlements } from './settlements.ts'
import { SlotRenewals } from './slot-renewals.ts'
import { budgetStore } from './budget-store.ts'

/**
 * Tokens by kind, weighed by each rule's `weights`; kinds that are not given are 0.
 *
 * @example
 * ```ts
 * const usage: Usage = { input: 900, cached: 400, output: 210 }
 * ```
 */
export interface Usage {
  readonly input?: number
  readonly cached?: number
  readonly output?: number
}

/**
 * The answer to `reserve`. When it is refused, nothing is held and the id is ''.
 *
 * @example
 * ```ts
 * const { allowed, id }: Reservation = await budget.reserve({ team: 'search' }, 1200)
 * ```
 */
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

/**
 * A slot, or a refusal. It is renewed until `leave`, so that only a crash lets it end.
 *
 * @example
 * ```ts
 * const slot: Slot = await budget.enter({ user: '42' })
 * ```
 */
export interface Slot {
  readonly allowed: boolean
  readonly id: string
  readonly decision: Decision
  /** Frees the slot; a second call does nothing. A slot that the store cannot free now comes free at its end. */
  leave(): void
}

/**
 * Reserves, settles and enters on a remote store.
 *
 * @example
 * ```ts
 * const spend = async (budget: Budget) => (await budget.reserve({ team: 'search' }, 1200)).allowed
 * ```
 */
export interface Budget {
  /**
   * Holds the estimate on every rule with `hold`, takes a slot of every rule with `concurrency`, and charges every other
   * rule its cost of one request: all or none, in one round trip. Default estimate: the 95th percentile of the last
   * actual costs of the rule and, if there is one, the attribute `model`. The holds end unless `extend` moves their end;
   * with `isRenewed` they are renewed until they are settled or cancelled.
   */
  reserve(
    attributes: Attributes | string,
    estimate?: number,
    isRenewed?: boolean,
  ): Promise<Reservation>
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
  /** Counts one failure, such as a wrong password, for the lockouts of the rules that apply, as one refusal. */
  countFailure(attributes: Attributes | string): Promise<void>
  /** Ends the renewal of slots; those that were not left come free at their end. */
  close(): Promise<void>
}

/**
 * A {@link Budget} in this process's memory, which answers at once.
 *
 * @example
 * ```ts
 * const spend = (budget: SyncBudget) => budget.reserve({ team: 'search' }, 1200).allowed
 * ```
 */
export interface SyncBudget {
  reserve(attributes: Attributes | string, estimate?: number, isRenewed?: boolean): Reservation
  settle(id: string, actual: number | Usage): Settlements
  extend(id: string): Settlements
  cancel(id: string): Settlements
  enter(attributes: Attributes | string, cost?: number, isRenewed?: boolean): Slot
  leave(id: string): void
  countFailure(attributes: Attributes | string): void
  close(): void
}

/** What a policy budget is made from. */
export interface PolicyBudgetOptions {
  readonly name: string
  readonly rules: readonly CompiledRule[]
  readonly hashKeys: boolean
  readonly store: HoldStore
  readonly decideOptions: Omit<DecideOptions, 'store'>
  readonly onSettled?: OnSettled | undefined
  readonly timers: Timers
  readonly release: () => MaybePromise<void>
}

/** The part of the limit that is reserved while nothing is known of actual costs. */
const FIRST_ESTIMATE = 0.05
/** Milliseconds after the end of a reservation for which its settlement is still a plain charge. */
const LATE_PERIOD = 600_000
const ALL_UNITS = Number.MAX_SAFE_INTEGER
const TOKEN_KINDS: readonly string[] = ['input', 'cached', 'output'] satisfies (keyof Usage)[]

/** What is known of a reservation that is to be settled. */
interface KnownReservation {
  readonly id: string
  readonly hold: string
  readonly attributes: Attributes
  readonly units: number
  readonly isDegraded: boolean
  readonly endsAt: Millis
  /** Its checks with holds, each with that of its caller's share. */
  readonly checks: readonly SharedCheck[]
}

/** Holds by compiled rules. Answers at once on a synchronous store, else by promises. */
export class PolicyBudget {
  private readonly options: PolicyBudgetOptions
  private readonly estimates = new Estimates()
  private readonly renewals: SlotRenewals
  private readonly pending: PendingSettlements
  /** What `reserve` knew of reservations, until they are settled. */
  private readonly remembered = new RecentReservations<KnownReservation>()
  private readonly decideOptions: DecideOptions
  private readonly settlements: MappedSettlements
  private isClosed = false

  constructor(options: PolicyBudgetOptions) {
    this.options = options
    const { store, timers } = options
    const shortest = smallestOf(
      options.rules.flatMap(({ rule }) => (rule.hold === undefined ? [] : [rule.hold as Millis])),
    )
    this.renewals = new SlotRenewals(
      (settlements) => store.exchange(settlements, []),
      timers,
      shortest,
    )
    this.pending = new PendingSettlements((settlements) => store.exchange(settlements, []), timers)
    this.settlements = mappedSettlements(store)
    this.decideOptions = { ...options.decideOptions, store: budgetStore(store, options.rules) }
  }

  reserve(
    input: Attributes | string,
    estimate?: number,
    isRenewed = false,
  ): MaybePromise<Reservation> {
    if (estimate !== undefined) requireCost('estimate', estimate)
    const attributes = parseAttributes(input, 'any')
    const hold = newHoldId()
    const { hashKeys, name: policy } = this.options
    let units = 0
    const request = this.matchWithHolds(attributes, 1, (check, rule): SharedCheck => {
      if (isSlot(rule)) return slotCheck(check, rule, hold)
      const wanted = estimate ?? this.estimates.of(rule.name, modelIn(attributes))
      const first = Math.floor(check.limit.burst * FIRST_ESTIMATE)
      const cost = Math.max(1, Math.min(wanted ?? first, shareOf(check.limit, rule)))
      units = Math.max(units, cost)
      const life = rule.hold as Millis
      const made = holdCheck(check, cost, {
        id: hold,
        life,
        onEnd: 'free',
        late: LATE_PERIOD,
        isNew: true,
      })
      const place = placeOfShare(check, rule, attributes, hashKeys)
      if (place === undefined) return made
      const ofCaller = { ...made, ...place, countRefused: false }
      const share = holdCheck(ofCaller, cost, { id: hold, life, onEnd: 'free', isNew: true })
      return { ...made, share }
    })
    return decideWith(request, this.decideOptions, (decision) => {
      if (isRenewed && decision.allowed && !decision.degraded)
        this.renew(hold, request.checks as readonly SharedCheck[])
      const made = reservationOf(request, decision, { hold, policy, attributes, units })
      if (made.id !== '' && !decision.degraded) {
        const checks = heldOf(request.checks)
        const { id, endsAt } = made
        const isDegraded = checks.length === 0
        this.remembered.set({ id, hold, attributes, units, isDegraded, endsAt, checks })
      }
      return made
    })
  }

  settle(id: string, actual: number | Usage): MaybePromise<Settlements> {
    checkActual(actual)
    const rules: RuleInCode[] = []
    let model: string | undefined
    const bookingOf = (rule: RuleInCode, attributes: Attributes): Booking => {
      if (isSlot(rule)) return NOTHING_SPENT
      model = modelIn(attributes)
      rules.push(rule)
      return { spent: costOf(actual, rule), keep: 0 }
    }
    return this.book(id, bookingOf, (answer) => {
      // A cost is learned once, however often it is settled.
      if (answer.status !== 'repeated')
        for (const rule of rules) this.estimates.note(rule.name, model, costOf(actual, rule))
      return requireKnown(answer)
    })
  }

  extend(id: string): MaybePromise<Settlements> {
    return this.book(
      id,
      (rule) => ({ spent: 0, keep: ALL_UNITS, life: rule.hold as Millis }),
      requireKnown,
    )
  }

  cancel(id: string): MaybePromise<Settlements> {
    return this.book(id, () => NOTHING_SPENT, requireKnown)
  }

  enter(input: Attributes | string, cost = 1, isRenewed = true): MaybePromise<Slot> {
    requireCost('cost', cost)
    const attributes = parseAttributes(input, 'any')
    this.requireSlots()
    const hold = newHoldId()
    const request = this.matchWithHolds(attributes, cost, (check, rule) =>
      isSlot(rule) ? slotCheck(check, rule, hold) : undefined,
    )
    return decideWith(request, this.decideOptions, (decision) =>
      this.slotOf(request, decision, { hold, attributes, isRenewed }),
    )
  }

  leave(id: string): MaybePromise<void> {
    this.renewals.remove(readId(id, this.options.name).hold)
    return this.book(
      id,
      () => NOTHING_SPENT,
      () => {},
    )
  }

  countFailure(input: Attributes | string): MaybePromise<void> {
    const failing = failingChecks(this.matchRequest(parseAttributes(input, 'any'), 1).checks)
    if (failing.length > 0)
      return mapAnswer(this.decideOptions.store.take(failing), () => undefined)
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
    if (!decision.allowed) return { allowed: false, id: '', decision, leave: () => {} }
    const held = heldOf(checks)
    const holdsNothing = held.length === 0
    const isDegraded = decision.degraded || holdsNothing
    const endsAt = holdsNothing
      ? 0
      : decision.at + smallestOf(held.map((check) => check.hold!.life))
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
    if (isRenewed) this.renew(hold, held)
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

  /** Moves the ends of what the checks hold, until it is settled. */
  private renew(hold: string, checks: readonly SharedCheck[]): void {
    const renewed = checks
      .flatMap(({ share, ...check }) => (share === undefined ? [check] : [check, share]))
      .filter((check) => check.hold !== undefined)
      .map((check) =>
        settlementOf(check, hold, { spent: 0, keep: ALL_UNITS, life: check.hold!.life }),
      )
    if (renewed.length > 0) this.renewals.add(hold, renewed)
  }

  /** Settles a reservation by the booking of each rule. `finish` receives the answer, which saves a promise. */
  private book<T>(
    id: string,
    bookingOf: (rule: RuleInCode, attributes: Attributes) => Booking,
    finish: (settlements: Settlements) => T,
  ): MaybePromise<T> {
    const { onSettled } = this.options
    const reserved = this.findReservation(id)
    const { hold, attributes, units, isDegraded, endsAt, checks } = reserved
    // Of the right length from the start: V8 makes room for seventeen on a first push.
    const settlements = new Array<Settlement>(checks.length)
    const rules = new Array<string>(checks.length)
    let shares: Settlement[] | undefined
    let isKept = false
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i]!
      const rule = check.rule as RuleInCode
      const booking = bookingOf(rule, attributes)
      rules[i] = rule.name
      settlements[i] = settlementOf(check, hold, booking, debtOf(rule, check))
      isKept ||= booking.keep > 0
      if (check.share !== undefined)
        (shares ??= []).push(settlementOf(check.share, hold, { ...booking, spent: 0 }))
    }
    if (!isKept) {
      this.renewals.remove(hold)
      this.remembered.delete(reserved)
    }
    // The fallback has charged the estimate to this process's share, unless no rule held anything.
    if (isDegraded) return finish(endsAt === 0 ? NO_RULE : degradedSettlements(units))
    const all = shares === undefined ? settlements : [...settlements, ...shares]
    const answered = (settled: readonly Settled[]): T => {
      const answer = summary(shares === undefined ? settled : settled.slice(0, rules.length), rules)
      if (onSettled !== undefined) report(onSettled, checks, answer, attributes)
      return finish(answer)
    }
    return this.settlements.settleWith(all, answered, (error: unknown) => {
      if (!isTransient(error)) throw error
      this.pending.add(hold, all)
      return finish(PENDING)
    })
  }

  /** What is known of a reservation or slot: what this process remembers, or what the id says. */
  private findReservation(id: string): KnownReservation {
    this.requireOpen()
    const known = typeof id === 'string' ? this.remembered.get(id) : undefined
    if (known !== undefined) return known
    const { hashKeys, name } = this.options
    const { hold, attributes, units, isDegraded, endsAt } = readId(id, name)
    const checks: SharedCheck[] = []
    for (const check of this.matchRequest(attributes, 1).checks) {
      if (check.holds !== true) continue
      const rule = check.rule as RuleInCode
      const place = isSlot(rule) ? undefined : placeOfShare(check, rule, attributes, hashKeys)
      checks.push(place === undefined ? check : { ...check, share: { ...place, cost: 0 } })
    }
    return { id, hold, attributes, units, isDegraded, endsAt, checks }
  }

  /** The checks of a request. `makeHeld` replaces those of rules with holds, or leaves them out. */
  private matchWithHolds(
    attributes: Attributes,
    cost: number,
    makeHeld: (check: RuleCheck, rule: RuleInCode) => RuleCheck | undefined,
  ): DecisionRequest {
    const request = this.matchRequest(attributes, cost)
    // The request is this call's own.
    const checks = request.checks as RuleCheck[]
    let count = 0
    for (const check of checks) {
      const made = check.holds === true ? makeHeld(check, check.rule as RuleInCode) : check
      if (made !== undefined) checks[count++] = made
    }
    if (count < checks.length) checks.length = count
    return request
  }

  private matchRequest(attributes: Attributes, cost: number): DecisionRequest {
    const { rules, hashKeys } = this.options
    this.requireOpen()
    return matchRules(rules, attributes, cost, hashKeys)
  }

  private requireSlots(): void {
    const { rules, name } = this.options
    if (!rules.some(({ rule }) => isSlot(rule)))
      throw new SluiceError(
        'invalid-option',
        `enter: no rule of the policy ${name} has concurrency; add concurrency: 20 to a rule, or use reserve`,
      )
  }

  private requireOpen(): void {
    if (this.isClosed)
      throw new SluiceError(
        'limiter-closed',
        'the budget is closed; make a new one, or close it later',
      )
  }
}

/** Returns the answer to a settlement. Throws if no rule knows the reservation. */
function requireKnown(answer: Settlements): Settlements {
  const { rules, status } = answer
  if (status === 'unknown' || (rules.length === 0 && status === 'settled'))
    throw unknownReservation(
      'the store has no such reservation: it was settled, or it ended long ago; nothing is charged',
    )
  return answer
}

/** The checks that hold something. */
function heldOf(checks: readonly RuleCheck[]): readonly SharedCheck[] {
  for (const { hold } of checks)
    if (hold === undefined) return checks.filter(({ hold }) => hold !== undefined)
  return checks
}

/** Reports what a settlement has charged. */
function report(
  onSettled: OnSettled,
  checks: readonly RuleCheck[],
  { rules }: Settlements,
  attributes: Attributes,
): void {
  const charged = rules.flatMap(({ status, charged, remaining, debt, at }, i) =>
    charged > 0 && (status === 'settled' || status === 'late')
      ? [{ check: checks[i]!, charged, remaining, debt, at }]
      : [],
  )
  if (charged.length > 0) onSettled(charged, attributes)
}

/** Costs are remembered by model, where it is known. */
function modelIn(attributes: Attributes): string | undefined {
  return attributeText(attributes, 'model')
}

function checkActual(actual: number | Usage): void {
  if (typeof actual !== 'object' || actual === null || Array.isArray(actual))
    return requireCost('actual', actual)
  for (const [kind, tokens] of Object.entries(actual)) {
    requireCost(`actual.${kind}`, tokens)
    // The field of another API, such as `prompt_tokens`, would cost nothing.
    if (!TOKEN_KINDS.includes(kind))
      throw new SluiceError(
        'invalid-cost',
        `actual.${kind} is no kind of tokens; accepted: ${TOKEN_KINDS.join(', ')}`,
      )
  }
}

function costOf(actual: number | Usage, { weights = {} }: RuleInCode): number {
  if (typeof actual === 'number') return actual
  const { input = 0, cached = 0, output = 0 } = actual
  const sum =
    input * (weights.input ?? 1) + cached * (weights.cached ?? 1) + output * (weights.output ?? 1)
  return Math.min(ALL_UNITS, Math.ceil(sum))
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

function smallestOf(numbers: readonly number[]): number {
  return numbers.reduce((least, number) => Math.min(least, number), Infinity)
}
