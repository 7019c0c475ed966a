// The counts with holds of one process, by space and key.
import type { Limit } from '../../limit/limit.ts'
import type { Millis } from '../../time/clock.ts'
import type { Check } from '../store.ts'
import { advanceHeld, freshHeld, fullAtHeld, type HeldCount } from './held-count.ts'

/** Counts that are looked at for expiry whenever one is added. */
const LOOKS_PER_ADD = 4

/** Where a count is, and the limit that reads it. */
export type CountPlace = Pick<Check, 'space' | 'key' | 'limit' | 'slowestQuota'>

interface Entry {
  readonly count: HeldCount
  /** The slowest limit that has counted here, which says when the count is as good as new. */
  limit: Limit
}

/** Counts with holds. A count with units out is never dropped to make room. */
export class HeldCounts {
  private readonly entries = new Map<string, Entry>()
  private turn: Iterator<[string, Entry]> | undefined

  get size(): number {
    return this.entries.size
  }

  /** The count, made if need be, and advanced to its own instant, which is returned beside it. */
  open(check: CountPlace, now: Millis): [HeldCount, Millis] {
    const name = nameOf(check)
    let entry = this.entries.get(name)
    if (entry === undefined) {
      this.sweep(now, LOOKS_PER_ADD)
      entry = { count: freshHeld(check.limit, now), limit: check.limit }
      this.entries.set(name, entry)
    }
    entry.limit = slowestOf(entry.limit, check)
    return [entry.count, advanceHeld(check.limit, entry.count, now)]
  }

  delete(check: Pick<Check, 'space' | 'key'>): void {
    this.entries.delete(nameOf(check))
  }

  /** Looks at some counts, and forgets those that answer as new ones would. */
  sweep(now: Millis, looks: number): void {
    for (let i = 0; i < looks; i++) {
      this.turn ??= this.entries.entries()
      const { done, value } = this.turn.next()
      if (done === true) {
        this.turn = undefined
        return
      }
      const [name, { count, limit }] = value
      if (isAsNew(count, limit, now)) this.entries.delete(name)
    }
  }

  clear(): void {
    this.entries.clear()
    this.turn = undefined
  }
}

/** Whether a count answers as a new one would. */
function isAsNew(count: HeldCount, limit: Limit, now: Millis): boolean {
  if (count.keptUntil > now || count.lastEnd > now) return false
  return fullAtHeld(limit, count, now) <= now
}

function slowestOf(known: Limit, { limit, slowestQuota = limit.quota }: CountPlace): Limit {
  const quota = Math.min(known.quota, slowestQuota)
  return quota === limit.quota ? limit : { ...limit, quota }
}

/** The length makes it injective: a space may hold any character. */
function nameOf({ space, key }: Pick<Check, 'space' | 'key'>): string {
  return `${space.length} ${space}${key}`
}
