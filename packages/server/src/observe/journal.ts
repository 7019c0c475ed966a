// Why keys were refused: one entry for each key of a rule, the latest ones, in constant memory.
import type { Decision, ErrorCode, Limit, Millis, Reason, Source } from 'sluice'
import type { FilledBy } from './fill.ts'
import type { NamedKey } from './keys.ts'

/** Entries that one process keeps. */
const MAX_ENTRIES = 2000
/** An entry is kept for this long after the last refusal. */
export const KEPT_FOR: Millis = 3_600_000
/** A refusal this long after the one before begins a new episode. */
const EPISODE_GAP: Millis = 600_000

/** What is known of the refusals of one key. Instants are by the clock of the process. */
export interface JournalEntry {
  /** What the ids of its decisions begin with. */
  readonly id: string
  readonly policy: string
  /** '' for a key that an operator has blocked. */
  readonly rule: string
  readonly attributes: NamedKey
  readonly reason: Reason
  readonly limit: Limit | null
  /** The last refusal: units that it asked for, that were left, and how long to wait then. */
  readonly cost: number
  readonly remaining: number
  readonly retryAfter: Millis | null
  /** What decided, and why the store did not. */
  readonly source: Source | null
  readonly cause?: ErrorCode | undefined
  readonly first: Millis
  readonly last: Millis
  readonly count: number
  /** Whether the count is an estimate: of very many refusals a sample is looked at. */
  readonly estimated: boolean
  /** Refusals by what decided. */
  readonly sources: Readonly<Partial<Record<Source, number>>>
  readonly filledBy: readonly FilledBy[]
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }
/** An entry while it is in the journal. */
export interface KeptEntry extends Writable<JournalEntry> {
  sources: Partial<Record<Source, number>>
  /** Refusals that are not in `sources` yet: all by the last source. */
  pending: number
  isChanged: boolean
  /** Where its rule finds it, and by what. */
  readonly index: Map<string, KeptEntry> | undefined
  readonly key: string
}

/** One refusal, as the journal reads it. */
export interface Refusal {
  readonly id: string
  readonly policy: string
  readonly rule: string
  readonly decision: Decision
  /** Units that the check asked for, and what answered it. */
  readonly cost: number
  readonly source: Source | null
  readonly describe: () => NamedKey
  readonly filledBy: () => readonly FilledBy[]
  /** Where the rule finds the entry, by this key; undefined without a rule. */
  readonly index: Map<string, KeptEntry> | undefined
  readonly key: string
  /** The weight of this refusal. */
  readonly weight: number
}

/** Whether a refusal now belongs to the entry, and changes nothing of it but its count. */
export function isSameMoment({ last }: KeptEntry, now: Millis): boolean {
  return now - last < 1000
}

/** Counts a refusal of the same moment with its weight. */
export function countRefusal(entry: KeptEntry, weight: number): void {
  entry.count += weight
  entry.pending += weight
  if (weight > 1) entry.estimated = true
  entry.isChanged = true
}

/** The journal of one process. */
export class Journal {
  /** The one refused last stands last. */
  private readonly entries = new Map<string, KeptEntry>()

  /** Notes a refusal. Returns its entry if it is the first of an episode. */
  note(refusal: Refusal, now: Millis): JournalEntry | undefined {
    const { id, decision } = refusal
    const known = this.entries.get(id)
    if (known !== undefined && now - known.last < EPISODE_GAP) {
      // The rest is of interest once a second, and costs as much as the decision.
      if (!isSameMoment(known, now) || known.reason !== decision.reason)
        this.update(known, decision, refusal, now)
      countRefusal(known, refusal.weight)
      return undefined
    }
    if (known === undefined && this.entries.size >= MAX_ENTRIES)
      this.forget(this.entries.values().next().value!)
    const entry = newEntry(refusal, now)
    this.update(entry, decision, refusal, now)
    entry.pending = refusal.weight
    entry.index?.set(entry.key, entry)
    return entry
  }

  /** All entries, the latest first. */
  list(now: Millis): readonly JournalEntry[] {
    return [...this.entries.values()]
      .filter(({ last }) => now - last < KEPT_FOR)
      .toReversed()
      .map(plain)
  }

  /** The latest entries that changed since the last call. */
  takeChanged(most: number): readonly JournalEntry[] {
    const changed: JournalEntry[] = []
    for (const entry of [...this.entries.values()].toReversed()) {
      if (!entry.isChanged) continue
      if (changed.length >= most) break
      entry.isChanged = false
      changed.push(plain(entry))
    }
    return changed
  }

  private forget({ id, index, key }: KeptEntry): void {
    this.entries.delete(id)
    if (index?.get(key)?.id === id) index.delete(key)
  }

  private update(entry: KeptEntry, decision: Decision, refusal: Refusal, now: Millis): void {
    const { reason, limit, remaining, retryAfter, cause } = decision
    settle(entry)
    entry.reason = reason
    entry.limit = limit
    entry.cost = refusal.cost
    entry.remaining = remaining
    entry.retryAfter = retryAfter
    entry.source = refusal.source
    entry.cause = cause
    entry.last = now
    const filledBy = refusal.filledBy()
    if (filledBy.length > 0) entry.filledBy = filledBy
    this.entries.delete(entry.id)
    this.entries.set(entry.id, entry)
  }
}

function newEntry(refusal: Refusal, now: Millis): KeptEntry {
  const { id, policy, rule, describe, index, key, weight } = refusal
  return {
    index,
    key,
    pending: 0,
    id,
    policy,
    rule,
    attributes: describe(),
    reason: 'over-limit',
    limit: null,
    cost: 0,
    remaining: 0,
    retryAfter: null,
    source: null,
    first: now,
    last: now,
    count: weight,
    estimated: weight > 1,
    sources: {},
    filledBy: [],
    isChanged: true,
  }
}

/** Books the refusals that the last source has made. */
function settle(entry: KeptEntry): void {
  const { source, pending } = entry
  if (source !== null && pending > 0) entry.sources[source] = (entry.sources[source] ?? 0) + pending
  entry.pending = 0
}

function plain(kept: KeptEntry): JournalEntry {
  settle(kept)
  const { isChanged: _, pending: _pending, index: _index, key: _key, ...entry } = kept
  return { ...entry, sources: { ...entry.sources } }
}

/** The entries of several processes, those of one key put together. */
export function mergeEntries(entries: readonly JournalEntry[]): readonly JournalEntry[] {
  const byId = new Map<string, JournalEntry>()
  for (const entry of entries) {
    const other = byId.get(entry.id)
    byId.set(entry.id, other === undefined ? entry : together(other, entry))
  }
  return [...byId.values()].toSorted((a, b) => b.last - a.last)
}

function together(a: JournalEntry, b: JournalEntry): JournalEntry {
  const [newer, older] = a.last >= b.last ? [a, b] : [b, a]
  const sources: Partial<Record<Source, number>> = { ...newer.sources }
  for (const [source, count] of Object.entries(older.sources) as [Source, number][])
    sources[source] = (sources[source] ?? 0) + count
  return {
    ...newer,
    first: Math.min(a.first, b.first),
    count: a.count + b.count,
    estimated: a.estimated || b.estimated,
    sources,
    filledBy: mergeFills([...newer.filledBy, ...older.filledBy]),
  }
}

function mergeFills(fills: readonly FilledBy[]): readonly FilledBy[] {
  const byKind = new Map<string, FilledBy>()
  for (const fill of fills) {
    const kind = JSON.stringify([fill.cost, fill.attributes])
    const { units, error, spread } = byKind.get(kind) ?? { units: 0, error: 0, spread: 0 }
    byKind.set(kind, {
      ...fill,
      units: fill.units + units,
      error: fill.error + error,
      // Samples of two processes are off independently. An earlier version of the service wrote no spread.
      spread: Math.ceil(Math.hypot(fill.spread ?? 0, spread ?? 0)),
    })
  }
  return [...byKind.values()].toSorted((a, b) => b.units - a.units).slice(0, 6)
}
