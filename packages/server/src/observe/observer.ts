// Observes the decisions of the service: who is refused and busy, and why. Most decisions cost a hash of their key, no clock reading.
import { randomInt } from 'node:crypto'
import {
  systemClock,
  visibleOutcomes,
  type Attributes,
  type Clock,
  type Decision,
  type DecisionRequest,
  type Millis,
  type RuleCheck,
  type VisibleOutcome,
} from 'sluice'
import { sizeOfUnion } from '../metrics/hyper-log-log.ts'
import type { KeyMembers } from '../metrics/rule-metrics.ts'
import { isCharged } from '../metrics/policy-metrics.ts'
import { hash32, letters, type NamedKey, SHORT_ID_LENGTH, shortIds, twoLetters } from './keys.ts'
import {
  countRefusal,
  isSameMoment,
  Journal,
  type JournalEntry,
  type KeptEntry,
} from './journal.ts'
import { RuleWatch, SPAN, type RulePart } from './rule-watch.ts'

/** How often the time is read. Between two readings all decisions count as made at the same instant. */
const TICK: Millis = 250
/** Rules that are observed at once; what others do is not noted. */
const MAX_RULES = 500
/** Keys that enter the journal in one tick. In an attack by more keys the journal shows a part of them, which bounds the cost. */
const MAX_NEW_REFUSALS = 100
/** Refusals of one tick that the journal counts one by one; beyond that, only a weighted sample. */
const MAX_EXACT_REFUSALS = 200
/** Keys at zero for this long are worth an alert. */
const ZERO_WINDOW: Millis = 300_000
const MINUTE: Millis = 60_000

/** A named set of rules whose decisions are observed: a policy, or a domain of descriptors. */
export interface ObservedRules {
  readonly name: string
  readonly rules: readonly {
    readonly name: string
    /** The attributes that make a key. */
    readonly by: readonly string[]
  }[]
}

/** A check that knows which of several sets of attributes it was made from. */
export interface DescribedCheck extends RuleCheck {
  readonly attributes?: Attributes
}

/** The block that refused a request. */
export interface RefusingBlock {
  readonly id: string
  readonly attributes: NamedKey
}

/** Observes the decisions about one set of rules. */
export interface RulesObserver {
  /** The id of a refusal: what it begins with names the key, the rest the instant and the process. */
  readonly identify: (decision: Decision, request: DecisionRequest) => string
  /**
   * Notes a decision; `block` is what refused it, if it was an operator. `weight` is how many decisions this one
   * stands for in the sketches: 0 if it is not in the sample.
   */
  readonly note: (
    decision: Decision,
    request: DecisionRequest,
    block?: RefusingBlock,
    weight?: number,
  ) => void
  /** Whether this tick had so many refusals that the journal's counts go on by the sample alone. */
  readonly isFlooded: () => boolean
  /** What sees the keys of one rule, for callers that meet it again and again; undefined for a rule that is not observed. */
  readonly watchOf: (rule: string) => Pick<RuleWatch, 'see' | 'isGone'> | undefined
}

/** What receives how old the count of a key was at a decision, in milliseconds, by rule. */
export type AgesOf = (rule: string) => RuleWatch['ageMetric']

/** What the decisions about one set of rules are noted by. */
interface Observed {
  readonly policy: string
  readonly watchOf: (rule: string) => RuleWatch | undefined
  /** The watches of the last request by place: the next request usually meets the same rules. */
  readonly places: RuleWatch[]
  readonly idOfKey: KeyIds
  /** The journal's entries of blocked requests, by key. */
  readonly blocked: Map<string, KeptEntry>
}

/** All that one process has seen of its keys. */
export class Observer {
  /** A name of this process that no other has. */
  readonly process: string = letters(randomInt(2 ** 47), 8)
  /** Recent refusals. */
  readonly journal: Journal = new Journal()
  /** Called with the first refusal of a key after a while. */
  onFirstRefusal: (entry: JournalEntry) => void = () => {}
  /** Called when a minute ends in which requests were refused, with their number; beyond 800 a second it is an estimate. */
  onMinute: (refusals: number) => void = () => {}
  private readonly clock: Clock
  private readonly watches = new Map<string, RuleWatch>()
  private timer: NodeJS.Timeout | undefined
  /** The instant of the last tick. */
  now: Millis
  /** How many ticks there were. Unlike an instant, V8 keeps such a small number without an object. */
  ticks = 0
  private refusals = 0
  /** What ids of this tick have in common, and the tick. */
  private stamp = ''
  private stampedAt = -1
  private newRefusals = 0
  /** Refusals of this tick. */
  private refusedInTick = 0
  /** The present minute, and its refusals. */
  private minute: number
  private refusedInMinute = 0

  constructor(clock: Clock = systemClock) {
    this.clock = clock
    this.now = clock()
    this.minute = Math.floor(this.now / MINUTE)
  }

  /** Reads the time from now on. */
  start(): void {
    this.timer = setInterval(this.tick, TICK).unref()
  }

  close(): void {
    clearInterval(this.timer)
    this.endMinute()
  }

  /** Reads the time, and lets old generations go. */
  readonly tick = (): void => {
    this.now = this.clock()
    this.ticks = (this.ticks + 1) % 0x40_00_00_00
    this.newRefusals = 0
    this.refusedInTick = 0
    if (Math.floor(this.now / MINUTE) !== this.minute) this.endMinute()
    for (const [id, watch] of this.watches) {
      if (watch.turn(this.now)) continue
      watch.isGone = true
      this.watches.delete(id)
    }
  }

  private endMinute(): void {
    this.minute = Math.floor(this.now / MINUTE)
    if (this.refusedInMinute > 0) this.onMinute(this.refusedInMinute)
    this.refusedInMinute = 0
  }

  /** The observer of some rules. */
  of({ name: policy, rules }: ObservedRules, agesOf: AgesOf = () => undefined): RulesObserver {
    const idOfKey = keyIds(policy)
    const byRule = new Map(rules.map(({ name, by }) => [name, by]))
    const held = new Map<string, RuleWatch>()
    const watchOf = (rule: string): RuleWatch | undefined => {
      const known = held.get(rule)
      if (known !== undefined && !known.isGone) return known
      const by = byRule.get(rule)
      const watch = by && this.watchOf(policy, rule, by)
      if (watch !== undefined) {
        watch.ageMetric = agesOf(rule)
        held.set(rule, watch)
      }
      return watch
    }
    const places: RuleWatch[] = []
    const observed: Observed = { policy, watchOf, places, idOfKey, blocked: new Map() }
    return {
      identify: (decision, request) => this.identify(idOfKey, decision, request),
      watchOf,
      isFlooded: () => this.refusedInTick > MAX_EXACT_REFUSALS,
      note: this.note.bind(this, observed),
    }
  }

  /** What is known of every rule. */
  parts(): readonly RulePart[] {
    this.tick()
    return [...this.watches.values()].map((watch) => watch.part(this.now))
  }

  /** What is counted in metrics: the number of different keys of a rule, and of those at zero for long. */
  countsOf(policy: string, rule: string): { readonly distinct: number; readonly atZero: number } {
    const { distinct, atZero } = this.membersOf(policy, rule)
    return { distinct: sizeOfUnion([distinct]), atZero: atZero.length }
  }

  /** The same as members, of which metrics of several processes make a union. */
  membersOf(policy: string, rule: string): KeyMembers {
    const watch = this.watches.get(idOf(policy, rule))
    if (watch === undefined) return { distinct: [], atZero: [] }
    return {
      distinct: watch.distinctKeys.registers,
      atZero: watch.keysAtZero(this.now, ZERO_WINDOW).map(({ key }) => hash32(key)),
    }
  }

  /** Since when keys are counted. */
  get since(): Millis {
    return (Math.floor(this.now / SPAN) - 1) * SPAN
  }

  /** See {@link RulesObserver.note}. */
  private note(
    observed: Observed,
    decision: Decision,
    request: DecisionRequest,
    block?: RefusingBlock,
    weight = 1,
  ): void {
    if (!decision.allowed) {
      this.refusedInTick += 1
      const stands = this.refusedInTick <= MAX_EXACT_REFUSALS ? 1 : weight
      if (stands > 0) this.noteRefusal(observed, decision, request, block, stands)
      // Refused without a rule: an operator has blocked it.
      if (decision.rule === null) return
    }
    const { watchOf, places } = observed
    const { checks, attributes } = request
    let outcomes: readonly VisibleOutcome[] | undefined
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i]! as DescribedCheck
      const { name } = check.rule
      let watch: RuleWatch | undefined = places[i]
      if (watch === undefined || watch.rule !== name || watch.isGone) {
        watch = watchOf(name)
        if (watch === undefined) continue
        if (i < MAX_RULES) places[i] = watch
      }
      const isFollowed = watch.see(check.key, decision) && decision.allowed
      if (weight === 0 && check.shadow !== true && !isFollowed) continue
      outcomes ??= visibleOutcomes(decision)
      const outcome = outcomes[i]
      if (outcome === undefined) continue
      if (isFollowed && outcome.remaining > 0) watch.clearZero(check.key)
      const charged = isCharged(decision, check, outcome)
      const known = check.attributes ?? attributes[0] ?? {}
      const event = { check, outcome, isCharged: charged, attributes: known }
      if (check.shadow !== true) {
        if (weight > 0) watch.note(event, weight, this.now)
        continue
      }
      // If the shadow rule were enforced, it would have to allow the request too.
      watch.noteTrial(event, decision.allowed, decision.allowed && outcome.allowed, this.now)
    }
    if (decision.candidates !== undefined) this.noteCandidates(watchOf, decision, request)
  }

  /** What limits on trial answered, next to the answers of their rules. */
  private noteCandidates(
    watchOf: (rule: string) => RuleWatch | undefined,
    decision: Decision,
    { checks, attributes: [first = {}] }: DecisionRequest,
  ): void {
    for (const { rule, place, enforced, allowed } of decision.candidates ?? []) {
      const check = checks[place] as DescribedCheck
      const event = { check, attributes: check.attributes ?? first }
      watchOf(rule)?.noteTrial(event, enforced, allowed, this.now)
    }
  }

  private noteRefusal(
    { policy, watchOf, idOfKey, blocked }: Observed,
    decision: Decision,
    request: DecisionRequest,
    block: RefusingBlock | undefined,
    weight: number,
  ): void {
    const { now } = this
    this.refusedInMinute += weight
    const rule = decision.rule ?? ''
    const place = refusedPlace(decision, request)
    const check: DescribedCheck | undefined = request.checks[place]
    const watch = watchOf(rule)
    const key = check?.key ?? ''
    const index = decision.rule === null ? blocked : watch?.refusals
    const known = index?.get(key)
    // A lockout may begin a moment after the limit has refused.
    const hasChanged = check?.lockout !== undefined && known?.reason !== decision.reason
    if (known !== undefined && !hasChanged && isSameMoment(known, now))
      return countRefusal(known, weight)
    if (known === undefined && this.newRefusals >= MAX_NEW_REFUSALS) return
    this.newRefusals += 1
    const attributes = check?.attributes ?? request.attributes[0] ?? {}
    // A blocked request has none.
    const outcome = visibleOutcomes(decision)[place]
    const first = this.journal.note(
      {
        id: known?.id ?? idOfKey(rule, key),
        policy,
        rule,
        decision,
        describe: () => block?.attributes ?? watch?.nameOf(attributes) ?? {},
        filledBy: () => watch?.fillOf(key) ?? [],
        cost: outcome === undefined ? 0 : check!.cost,
        source: outcome?.source ?? null,
        index,
        key,
        weight,
      },
      now,
    )
    if (watch !== undefined && outcome !== undefined && outcome.remaining <= 0)
      watch.noteZero({ check: check!, outcome, attributes }, now)
    if (first !== undefined) this.onFirstRefusal(first)
  }

  private identify(idOfKey: KeyIds, decision: Decision, request: DecisionRequest): string {
    const check = request.checks[refusedPlace(decision, request)]
    if (this.stampedAt !== this.ticks) {
      this.stampedAt = this.ticks
      this.stamp = this.process.slice(0, 4) + letters(this.now, 7)
    }
    this.refusals = (this.refusals + 1) % 4096
    return idOfKey(decision.rule ?? '', check?.key ?? '') + this.stamp + twoLetters(this.refusals)
  }

  private watchOf(policy: string, rule: string, by: readonly string[]): RuleWatch | undefined {
    const id = idOf(policy, rule)
    const known = this.watches.get(id)
    if (known !== undefined && known.by.join('\n') === by.join('\n')) return known
    if (known !== undefined) known.isGone = true
    else if (this.watches.size >= MAX_RULES) return undefined
    const watch = new RuleWatch(policy, rule, by, this.now)
    this.watches.set(id, watch)
    return watch
  }
}

/** The instant that a decision id names, or undefined for a string that is no id. */
export function readDecisionId(
  id: string,
): { readonly key: string; readonly at: Millis } | undefined {
  if (!/^[\w-]{10}(?:[\w-]{13})?$/.test(id)) return undefined
  return { key: id.slice(0, SHORT_ID_LENGTH), at: instantIn(id) }
}

function instantIn(id: string): Millis {
  let at = 0
  for (const letter of Array.from(id.slice(14, 21)).toReversed()) at = at * 64 + valueOf(letter)
  return at
}

function valueOf(letter: string): number {
  return 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.indexOf(letter)
}

function idOf(policy: string, rule: string): string {
  return `${policy.length}:${policy}${rule}`
}

/** What the ids of the refusals of one key of a rule begin with. */
type KeyIds = (rule: string, key: string) => string

function keyIds(policy: string): KeyIds {
  const byRule = new Map<string, (key: string) => string>()
  return (rule, key) => {
    let ids = byRule.get(rule)
    if (ids === undefined) byRule.set(rule, (ids = shortIds(idOf(policy, rule))))
    return ids(key)
  }
}

/** The place of the check that refused, with the longest wait; 0 when an operator did. */
function refusedPlace(decision: Decision, { checks }: DecisionRequest): number {
  if (checks.length === 1) return 0
  const { rule } = decision
  const place = visibleOutcomes(decision).findIndex((one) => one.rule === rule && !one.allowed)
  return Math.max(0, place)
}
