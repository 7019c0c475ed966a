// Who is refused most: a small sketch for each rule, in constant memory, that costs allowed requests nothing.
import { createHash } from 'node:crypto'
import type { Attributes, Decision, Millis, Policy } from 'sluice'

/** Keys that are followed for each rule. */
const FOLLOWED = 100
/** Refusals count for one to two spans. */
const SPAN: Millis = 60_000
/** Longer values stand as their hash, as they do in keys. */
const LONGEST_PLAIN = 128

/** A key that was refused. */
export interface Offender {
  readonly policy: string
  readonly rule: string
  /** The attributes that make the key. */
  readonly attributes: Readonly<Record<string, string>>
  /** Refusals since `since`; at most `error` of them may have been another key's. */
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

  add(key: string, valuesOf: () => readonly string[]): void {
    const known = this.byKey.get(key)
    if (known !== undefined) {
      known.count += 1
      return
    }
    if (this.entries.length < FOLLOWED) {
      const entry = { key, values: valuesOf(), count: 1, error: 0 }
      this.entries.push(entry)
      this.byKey.set(key, entry)
      return
    }
    let least = this.entries[0]!
    for (const entry of this.entries) if (entry.count < least.count) least = entry
    this.byKey.delete(least.key)
    least.key = key
    least.values = valuesOf()
    least.error = least.count
    least.count += 1
    this.byKey.set(key, least)
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
  /** Forgotten; whoever holds it must ask for another. */
  isGone: boolean
}

/** What is refused over all policies. */
export class Offenders {
  private readonly clock: () => Millis
  /** By policy and rule; one without refusals is forgotten. */
  private readonly followed = new Map<string, Followed>()

  constructor(clock: () => Millis = Date.now) {
    this.clock = clock
  }

  /** What is to be called for every decision of a policy that refuses. */
  noterFor(policy: Policy): (decision: Decision, attributes: Attributes | string) => void {
    const rules = new Map(policy.rules.map((rule) => [rule.name, rule.by]))
    const held = new Map<string, Followed>()
    return (decision, attributes) => {
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
      const one = by.length === 1 ? valueOf(attributes, by[0]!) : undefined
      if (one !== undefined) now.add(one, () => [one])
      else {
        const values = by.map((name) => valueOf(attributes, name))
        now.add(JSON.stringify(values), () => values)
      }
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
