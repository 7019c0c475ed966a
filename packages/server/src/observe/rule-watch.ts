// What is known of the keys of one rule, in at most 256 kB however many they are.
import type { Attributes, Decision, Millis, RuleCheck, VisibleOutcome } from 'sluice'
import { Fill, type FilledBy } from './fill.ts'
import { KeyAges, KeysAtZero, type KeyAtZero } from './followed-keys.ts'
import { hash32, keptKey, keyNamer, ownText, type NamedKey } from './keys.ts'
import type { Histogram } from '../metrics/series.ts'
import { HyperLogLog } from '../metrics/hyper-log-log.ts'
import type { KeptEntry } from './journal.ts'
import { mergeTops, SpaceSaving, type TopKeys } from './space-saving.ts'
import { RuleTrial, sumOf, type Divergence } from './rule-trial.ts'

/** Keys that are listed, most. */
const LISTED = 50
/** Places of each sketch: twice what is listed, which halves the errors. */
const PLACES = 100
/** Those of a generation that has ended. */
const FEWER_PLACES = 50
/** Answers cover one to two of these. */
export const SPAN: Millis = 60_000
/** Those about candidates cover longer: a change is judged by days, not by minutes. */
const CANDIDATE_SPAN: Millis = 3_600_000
/** A rule that no request met for so long is forgotten. */
const SILENT: Millis = 3_600_000
/** Keys for which it is noted what fills them: the fullest, which are refused next. */
const FILLS = 16
/** A key replaces another one only if it is fuller by this share, so that similar keys do not replace each other. */
const REPLACE_LEAD = 0.1
/** A count is filling when less than this share of it is left. */
const FILLING = 0.75

/**
 * Decisions of one tick whose keys are all looked at, 100,000 a second. Of more, one decision in {@link STEP} is, by
 * chance: the number of different keys is then a lower bound.
 */
const ALL_SEEN = 25_000
/** A power of two. */
const STEP = 8

/** How one request met one rule. */
export interface RuleEvent {
  readonly check: Pick<RuleCheck, 'key' | 'cost' | 'limit'>
  readonly outcome: Pick<VisibleOutcome, 'allowed' | 'remaining' | 'availableAfter'>
  /** Whether the cost was taken: another rule may have refused the request. */
  readonly isCharged: boolean
  readonly attributes: Attributes
}

/** The keys of one rule, as plain data that parts of a fleet can merge. */
export interface RulePart {
  readonly policy: string
  readonly rule: string
  readonly by: readonly string[]
  readonly refused: TopKeys<NamedKey>
  readonly busiest: TopKeys<NamedKey>
  /** Keys that the rule's candidate, or the shadow rule itself, would newly refuse. */
  readonly newlyRefused: TopKeys<NamedKey>
  /** The registers of {@link HyperLogLog}. */
  readonly distinct: string
  readonly newlyRefusedDistinct: string
  /** Over the last one to two hours; null when nothing is on trial. */
  readonly divergence: Divergence | null
  readonly atZero: readonly KeyAtZero[]
  /** When the rule last applied to a request, to the quarter of a second. */
  readonly last: Millis
}

/** The sketches of one rule. */
export class RuleWatch {
  readonly policy: string
  readonly rule: string
  readonly by: readonly string[]
  /** The attributes of a request that the rule counts by. */
  readonly nameOf: (attributes: Attributes) => NamedKey
  /** No longer in the list; its holder must look up a new one. */
  isGone = false
  private readonly refused: Generations<SpaceSaving<NamedKey, Attributes>>
  private readonly busiest: Generations<SpaceSaving<NamedKey, Attributes>>
  private readonly distinct: Generations<HyperLogLog>
  /** The present generation of {@link distinct}. */
  private keys: HyperLogLog
  private trial: Generations<RuleTrial> | undefined
  private readonly zero = new KeysAtZero()
  private readonly fills = new Map<string, Fill>()
  private readonly ages = new KeyAges()
  /** The journal's entries of this rule, by key. */
  readonly refusals: Map<string, KeptEntry> = new Map()
  /** Receives how old the count of a key was, in milliseconds. */
  ageMetric: Pick<Histogram, 'observe'> | undefined
  /** Decisions since the last tick, those among them that will be left out before the next look. */
  private seen = 1
  /** Decisions until the next whose key is looked at. */
  private left = 0
  /** Whether this tick has too many decisions to look at each. */
  private isBusy = false
  private random = 0x2545f491
  private last: Millis

  constructor(policy: string, rule: string, by: readonly string[], now: Millis) {
    this.policy = policy
    this.rule = rule
    this.by = by
    this.nameOf = keyNamer(by)
    this.last = now
    const places = (): SpaceSaving<NamedKey, Attributes> => new SpaceSaving(PLACES, this.nameOf)
    const settle = (ended: SpaceSaving<unknown, never>): void => ended.keepHeaviest(FEWER_PLACES)
    this.refused = new Generations(SPAN, places, now, settle)
    this.busiest = new Generations(SPAN, places, now, settle)
    this.distinct = new Generations(SPAN, () => new HyperLogLog(), now)
    this.keys = this.distinct.now
  }

  /**
   * Counts a key; called for every decision, so it is as short as can be. Returns whether the key is followed as one that
   * has nothing left.
   */
  see(key: string, decision: Decision): boolean {
    if (this.left > 0) {
      this.left -= 1
      return false
    }
    return this.look(key, decision)
  }

  /** Apart from {@link see}, which V8 then compiles into every decision. */
  private look(key: string, decision: Decision): boolean {
    const hash = hash32(key)
    this.keys.add(hash)
    this.seen += 1
    if (this.isBusy) this.skip()
    else {
      if ((hash & this.ages.mask) === 0 && decision.at !== 0) {
        const age = this.ages.note(hash, decision.at)
        if (age >= 0) this.ageMetric?.observe(age)
      }
      this.isBusy = this.seen > ALL_SEEN
    }
    return this.zero.has(key, hash)
  }

  /** Chooses the next decision to look at: 0 to 14 are left out, 7 on average. */
  private skip(): void {
    let { random } = this
    random ^= random << 13
    random ^= random >>> 17
    random ^= random << 5
    this.random = random
    this.left = (random >>> 0) % (2 * STEP - 1)
    this.seen += this.left
  }

  /** Notes a decision that counts as `weight` decisions. */
  note(event: RuleEvent, weight: number, now: Millis): void {
    const { attributes } = event
    const { key, cost, limit } = event.check
    const { allowed, remaining } = event.outcome
    if (!allowed) this.refused.now.add(keptKey(key), 1, attributes, weight)
    else if (event.isCharged && cost > 0) {
      this.busiest.now.add(keptKey(key), cost, attributes, weight)
      if (remaining < limit.burst * FILLING) this.noteFill(event, weight, now)
    }
    if (remaining <= 0) this.noteZero(event, now)
  }

  /** Follows a key that has nothing left. */
  noteZero({ check, outcome, attributes }: Omit<RuleEvent, 'isCharged'>, now: Millis): void {
    this.zero.note(check.key, now, outcome.availableAfter, () => this.nameOf(attributes))
  }

  /** The key has units again. */
  clearZero(key: string): void {
    this.zero.clear(key)
  }

  /** Notes the answer of a candidate or shadow rule next to the enforced answer. */
  noteTrial(
    { check, attributes }: Pick<RuleEvent, 'check' | 'attributes'>,
    enforced: boolean,
    onTrial: boolean,
    now: Millis,
  ): void {
    this.seen += 1
    this.trial ??= new Generations(CANDIDATE_SPAN, () => new RuleTrial(this.nameOf), now)
    this.trial.now.note(check.key, attributes, enforced, onTrial)
  }

  /** What filled a key, if it was noted. */
  fillOf(key: string): readonly FilledBy[] {
    return this.fills.get(keptKey(key))?.list() ?? []
  }

  /** Ends a tick, and begins new generations when their time has come. Returns whether anything is still known. */
  turn(now: Millis): boolean {
    for (const each of [this.refused, this.busiest, this.trial]) each?.turn(now)
    const isNewSpan = this.distinct.turn(now)
    this.keys = this.distinct.now
    if (this.seen > 0) this.last = now
    // After a tick with very many decisions, one in some is looked at in the next, from its beginning.
    const wasBusy = this.isBusy
    this.isBusy = this.seen > ALL_SEEN
    // Of the decisions of a busy tick ages are not known, and keys would seem older than they are.
    if (wasBusy && !this.isBusy) this.ages.forget()
    if (!this.isBusy) this.left = 0
    this.seen = 0
    if (!isNewSpan) return true
    this.ages.turn()
    return now - this.last < SILENT || this.trial !== undefined
  }

  /** The different keys of the last one to two spans. */
  get distinctKeys(): HyperLogLog {
    return merged(this.distinct.both)
  }

  /** Keys at zero for longer than a time. */
  keysAtZero(now: Millis, longerThan: Millis): readonly KeyAtZero[] {
    return this.zero.list(now, longerThan)
  }

  /** Everything as plain data. */
  part(now: Millis): RulePart {
    const { policy, rule, by, trial } = this
    const listed = (tops: readonly SpaceSaving<NamedKey, Attributes>[]): TopKeys<NamedKey> =>
      mergeTops(
        tops.map((top) => top.top()),
        LISTED,
      )
    const trials = trial?.both ?? []
    return {
      policy,
      rule,
      by,
      refused: listed(this.refused.both),
      busiest: listed(this.busiest.both),
      newlyRefused: listed(trials.map(({ top }) => top)),
      distinct: merged(this.distinct.both).toText(),
      newlyRefusedDistinct:
        trials.length === 0 ? '' : merged(trials.map(({ distinct }) => distinct)).toText(),
      divergence: sumOf(trials.map(({ counts }) => counts)),
      atZero: this.zero.list(now, 0).slice(0, LISTED),
      last: this.last,
    }
  }

  private noteFill({ check, outcome, attributes }: RuleEvent, weight: number, now: Millis): void {
    const { key, cost, limit } = check
    const used = 1 - outcome.remaining / limit.burst
    const kept = keptKey(key)
    let fill = this.fills.get(kept)
    if (fill === undefined) {
      // The places may be taken by keys that are about as full, or fuller.
      if (this.fills.size >= FILLS && !this.forgetEmptier(used - REPLACE_LEAD, now)) return
      fill = new Fill(now)
      this.fills.set(ownText(kept), fill)
    }
    fill.note({ attributes, by: this.by, cost, weight, window: limit.window, used }, now)
  }

  /** Forgets what fills the emptiest key, if that is less full than this; returns whether it was. */
  private forgetEmptier(fullness: number, now: Millis): boolean {
    let emptiest: string | undefined
    let least = fullness
    for (const [key, fill] of this.fills) {
      const one = fill.fullness(now)
      if (one >= least) continue
      least = one
      emptiest = key
    }
    return emptiest !== undefined && this.fills.delete(emptiest)
  }
}

function merged(sketches: readonly HyperLogLog[]): HyperLogLog {
  const all = new HyperLogLog()
  for (const sketch of sketches) all.merge(sketch)
  return all
}

/**
 * The present generation of something and the one before, so that an answer covers one to two spans and never starts from
 * nothing.
 */
class Generations<T> {
  private readonly span: Millis
  private readonly make: () => T
  private number: number
  now: T
  before: T | undefined
  private readonly settle: (ended: T) => void

  /** `settle` is called with a generation that has ended and is still to be read. */
  constructor(span: Millis, make: () => T, now: Millis, settle: (ended: T) => void = () => {}) {
    this.span = span
    this.make = make
    this.settle = settle
    this.number = Math.floor(now / span)
    this.now = make()
    this.before = undefined
  }

  /** Begins a new generation if its time has come; returns whether it did. */
  turn(now: Millis): boolean {
    const number = Math.floor(now / this.span)
    if (number === this.number) return false
    this.before = number === this.number + 1 ? this.now : undefined
    if (this.before !== undefined) this.settle(this.before)
    this.now = this.make()
    this.number = number
    return true
  }

  /** Both, the present one first. */
  get both(): readonly T[] {
    return this.before === undefined ? [this.now] : [this.now, this.before]
  }
}
