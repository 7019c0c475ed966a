// Who is refused most: a small sketch for each rule, in constant memory, that costs allowed requests nothing.
import { createHash } from 'node:crypto'
import type { Attributes, Decision, Millis } from 'sluice'
import type { CountedRules } from './decision-metrics.ts'

/** Keys that are followed for each rule. */
const FOLLOWED = 100
/** Refusals count for one to two spans. */
const SPAN: Millis = 60_000
/** Refusals in one span that are all noted; of more, one in {@link SAMPLE} stands for as many. */
const ALL_NOTED = 1000
const SAMPLE = 8
/** Longer values stand as their hash, as they do in keys. */
const LONGEST_PLAIN = 128

/** A key that was refused. */
export interface Offender {
  readonly policy: string
  readonly rule: string
  /** The attributes that make the key. */
  readonly attributes: Readonly<Record<string, string>>
  /** Refusals since `since`, an estimate when there are many; at most `error` of them may have been another key's. */
  readonly refused: number
  readonly error: number
}

interface Entry {
  key: string
  values: readonly string[]
  count: number
  error: number
}

/**
 * The space-saving sketch: when all places are taken, a new key takes that of the least refused and inherits its
 * count as its possible error. Every key with more than 1/100 of all refusals is in it.
 */
export class Sketch {
  private readonly byKey = new Map<string, Entry>()
  private readonly entries: Entry[] = []
  /** The least count at the last full look; those who have it are found by going round. */
  private least = 0
  private cursor = 0

  add(key: string, values: readonly string[], weight = 1): void {
    const known = this.byKey.get(key)
    if (known !== undefined) {
      known.count += weight
      return
    }
    if (this.entries.length < FOLLOWED) {
      const entry = { key, values, count: weight, error: 0 }
      this.entries.push(entry)
      this.byKey.set(key, entry)
      return
    }
    const entry = this.leastRefused()
    this.byKey.delete(entry.key)
    entry.key = key
    entry.values = values
    entry.error = entry.count
    entry.count += weight
    this.byKey.set(key, entry)
  }

  /** Under many strangers most places have the least count, so that the next one is near. */
  private leastRefused(): Entry {
    for (let looks = 0; looks < FOLLOWED; looks++) {
      const entry = this.entries[this.cursor]!
      this.cursor = (this.cursor + 1) % FOLLOWED
      if (entry.count <= this.least) return entry
    }
    let found = this.entries[0]!
    for (const entry of this.entries) if (entry.count < found.count) found = entry
    this.least = found.count
    return found
  }

  list(): readonly Readonly<Entry>[] {
    return this.entries
  }
}

/** The refusals of one rule, in this span and the one before. */
interface Followed {
  readonly policy: string
  readonly rule: string
  readonly by: readonly string[]
  now: Sketch
  before: Sketch | undefined
  span: number
  /** Dropped from the list; its holder must look up a new one. */
  isGone: boolean
}

/** What is refused over all policies. */
export class Offenders {
  private readonly clock: () => Millis
  /** In this span, over all policies. */
  private refusals = 0
  /** By policy and rule; one without refusals is forgotten. */
  private readonly followed = new Map<string, Followed>()

  constructor(clock: () => Millis = Date.now) {
    this.clock = clock
  }

  /** What is to be called for every decision of a policy that refuses. */
  noterFor(policy: CountedRules): (decision: Decision, attributes: Attributes | string) => void {
    const rules = new Map(policy.rules.map((rule) => [rule.name, rule.by]))
    const held = new Map<string, Followed>()
    return (decision, attributes) => {
      this.refusals += 1
      // By chance, since requests may come in an order that repeats itself.
      const isSampled = this.refusals > ALL_NOTED
      if (isSampled && Math.random() * SAMPLE >= 1) return
      const { rule } = decision
      if (rule === null || decision.reason !== 'over-limit') return
      let followed = held.get(rule)
      if (followed === undefined || followed.isGone) {
        const by = rules.get(rule)
        if (by === undefined) return
        followed = this.of(policy.name, rule, by)
        held.set(rule, followed)
      }
      this.turn(followed, this.span())
      const { now, by } = followed
      const values = by.map((name) => valueOf(attributes, name))
      const key = values.length === 1 ? values[0]! : JSON.stringify(values)
      now.add(key, values, isSampled ? SAMPLE : 1)
    }
  }

  /** Those refused most, and since when they are counted. */
  top(most: number): { readonly since: Millis; readonly offenders: readonly Offender[] } {
    const span = this.span()
    const all = [...this.followed.values()].flatMap((followed) => {
      this.turn(followed, span)
      return offendersOf(followed)
    })
    for (const [id, { now, before }] of this.followed)
      if (before === undefined && now.list().length === 0) this.forget(id)
    const offenders = all.toSorted((a, b) => b.refused - a.refused).slice(0, most)
    return { since: (span - 1) * SPAN, offenders }
  }

  private of(policy: string, rule: string, by: readonly string[]): Followed {
    const id = `${policy.length}:${policy}${rule}`
    const known = this.followed.get(id)
    if (known !== undefined && known.by.join('\n') === by.join('\n')) return known
    this.forget(id)
    const span = this.span()
    const followed = { policy, rule, by, now: new Sketch(), before: undefined, span, isGone: false }
    this.followed.set(id, followed)
    return followed
  }

  private forget(id: string): void {
    const followed = this.followed.get(id)
    if (followed !== undefined) followed.isGone = true
    this.followed.delete(id)
  }

  private turn(followed: Followed, span: number): void {
    if (followed.span === span) return
    this.refusals = 0
    followed.before = followed.span === span - 1 ? followed.now : undefined
    followed.now = new Sketch()
    followed.span = span
  }

  private span(): number {
    return Math.floor(this.clock() / SPAN)
  }
}

function valueOf(attributes: Attributes | string, name: string): string {
  const value = typeof attributes === 'string' ? attributes : attributes[name]
  const text = String(value)
  if (text.length <= LONGEST_PLAIN) return text
  return `~${createHash('sha256').update(text).digest('base64url')}`
}

function offendersOf({ policy, rule, by, now, before }: Followed): readonly Offender[] {
  const byKey = new Map<string, { values: readonly string[]; count: number; error: number }>()
  for (const { key, values, count, error } of [...(before?.list() ?? []), ...now.list()]) {
    const earlier = byKey.get(key)
    byKey.set(key, {
      values,
      count: count + (earlier?.count ?? 0),
      error: error + (earlier?.error ?? 0),
    })
  }
  return [...byKey.values()].map(({ values, count, error }) => ({
    policy,
    rule,
    attributes: Object.fromEntries(by.map((name, i) => [name, values[i]!])),
    refused: count,
    error,
  }))
}
