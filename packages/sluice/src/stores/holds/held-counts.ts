// The counts with holds of one process, by space and key.
import type { Limit } from '../../limit/limit.ts'
import type { Millis } from '../../time/clock.ts'
import type { Check } from '../store.ts'
import { advanceHeld, cloneOf, freshHeld, fullAtHeld, type HeldCount } from './held-count.ts'

/** Counts that one sweep looks at. */
const LOOKS = 4
/** So few counts are not worth a sweep. */
const FEW = 64

/** Where a count is, and the limit that reads it. */
export type CountPlace = Pick<Check, 'space' | 'key' | 'limit' | 'slowestQuota'>

/** A count at one instant: a copy, which changes nothing until it is saved. */
export interface OpenCount {
  readonly count: HeldCount
  /** The count's own instant, which never goes back. */
  readonly own: Millis
  /** Whether time has ended holds, or the clock was set back: worth saving by itself. */
  readonly isChanged: boolean
}

interface Entry {
  readonly count: HeldCount
  /** The slowest of the limits that share the count. */
  readonly limit: Limit
}

/** Counts with holds. A count with units out is never dropped to make room. */
export class HeldCounts {
  private readonly entries = new Map<string, Entry>()
  private turn: Iterator<[string, Entry]> | undefined

  get size(): number {
    return this.entries.size
  }

  /** The count as it is now. */
  open(place: CountPlace, now: Millis): OpenCount {
    const { limit } = place
    const entry = this.entries.get(nameOf(place))
    if (entry === undefined) return { count: freshHeld(limit, now), own: now, isChanged: false }
    const { count: known } = entry
    const { nextEnd, nextPurge, state } = known
    const latest = Math.max(now, state.at)
    const isDue = (nextEnd > 0 && latest >= nextEnd) || (nextPurge > 0 && latest >= nextPurge)
    // The holds themselves are copied only if time changes them.
    const count = isDue || now < state.at ? cloneOf(known) : { ...known, state: { ...state } }
    const own = advanceHeld(limit, count, now)
    const isChanged =
      count.nextEnd !== nextEnd || count.nextPurge !== nextPurge || count.state.at < state.at
    return { count, own, isChanged }
  }

  /** Keeps a count, unless it is as good as new. */
  save(place: CountPlace, count: HeldCount, now: Millis): void {
    const entry = { count, limit: slowestOf(place) }
    if (isAsNew(entry, now)) this.entries.delete(nameOf(place))
    else this.entries.set(nameOf(place), entry)
  }

  delete(place: Pick<Check, 'space' | 'key'>): void {
    this.entries.delete(nameOf(place))
  }

  /** Looks at some counts, and forgets those that answer as new ones would. */
  sweep(now: Millis): void {
    if (this.entries.size <= FEW) return
    for (let i = 0; i < LOOKS; i++) {
      this.turn ??= this.entries.entries()
      const { done, value } = this.turn.next()
      if (done === true) {
        this.turn = undefined
        return
      }
      const [name, entry] = value
      if (isAsNew(entry, now)) this.entries.delete(name)
    }
  }

  clear(): void {
    this.entries.clear()
    this.turn = undefined
  }
}

/** Whether a count answers as a new one would. */
function isAsNew({ count, limit }: Entry, now: Millis): boolean {
  return count.keptUntil <= now && fullAtHeld(limit, count, now) <= now
}

function slowestOf({ limit, slowestQuota = limit.quota }: CountPlace): Limit {
  const quota = limit.quota === 0 ? slowestQuota : Math.min(limit.quota, slowestQuota)
  return quota === limit.quota ? limit : { ...limit, quota }
}

/** The length makes it injective: a space may hold any character. */
function nameOf({ space, key }: Pick<Check, 'space' | 'key'>): string {
  return `${space.length} ${space}${key}`
}
