import { describe, expect, it } from 'vitest'
import { lengthOf } from '../../../../test/length.ts'
import { Random } from '../redis/random.ts'
import { excessOf, type Admitted } from './bounds.ts'

/** How a store may keep books of units that are out. */
type Bookkeeping = 'law' | 'paid' | 'outstanding'

interface Fleet {
  readonly burst: number
  readonly rate: number
  readonly processes: number
  readonly chunk: number
  readonly life: number
}

interface Holder {
  left: number
  /** Units on record at the store. */
  recorded: number
  end: number
}

/** A shared bucket with leases of fixed chunks, in seconds and fractions: the law in its plainest form. */
class Bucket {
  private level: number
  private at = 0
  private readonly fleet: Fleet
  private readonly books: Bookkeeping
  private readonly holders: readonly Holder[]

  constructor(fleet: Fleet, books: Bookkeeping, holders: readonly Holder[]) {
    this.level = fleet.burst
    this.fleet = fleet
    this.books = books
    this.holders = holders
  }

  /** Refill, then book, then grant. */
  exchange(holder: Holder, now: number): boolean {
    const { burst, rate, chunk, life } = this.fleet
    this.level = Math.min(burst - this.out(now), this.level + rate * (now - this.at))
    this.at = now
    for (const one of this.holders) if (now >= one.end) one.recorded = 0
    // What was not handed back before the end counts as spent.
    if (now < holder.end) this.level += holder.left
    holder.recorded = holder.left = 0
    if (this.level < chunk) return false
    this.level -= chunk
    holder.left = holder.recorded = chunk
    holder.end = now + life
    return true
  }

  private out(now: number): number {
    if (this.books === 'paid') return 0
    const units = this.holders.map(({ left, recorded, end }) => {
      if (this.books === 'law') return recorded
      return now < end ? left : 0
    })
    return units.reduce((sum, one) => sum + one, 0)
  }
}

/** The worst excess over the bound in one random history of bursts and pauses, with crashes. */
function excessIn(fleet: Fleet, books: Bookkeeping, random: Random): number {
  const holders: Holder[] = Array.from({ length: fleet.processes }, () => ({
    left: 0,
    recorded: 0,
    end: 0,
  }))
  const bucket = new Bucket(fleet, books, holders)
  const record: Admitted[] = []
  let now = 0
  for (let i = 0; i < 400; i++) {
    now += random.chance(0.1) ? random.next() * 2 * fleet.life : (random.next() * 2) / fleet.rate
    const holder = random.pick(holders)
    if (random.chance(0.01)) {
      holder.left = 0
      continue
    }
    const wanted = random.chance(0.3) ? fleet.chunk : 1
    for (let unit = 0; unit < wanted; unit++) {
      if ((holder.left < 1 || now >= holder.end) && !bucket.exchange(holder, now)) break
      holder.left -= 1
      record.push({ at: now, cost: 1 })
    }
  }
  const { burst, rate } = fleet
  return excessOf({ algorithm: 'token-bucket', quota: rate, window: 1, burst }, record).units
}

describe('the law of leases', () => {
  const fleets = lengthOf(300, 2000)
  const brokenIn = (books: Bookkeeping): number => {
    let broken = 0
    for (let seed = 1; seed <= fleets; seed++) {
      const random = new Random(seed)
      const chunk = random.whole(1, 50)
      const fleet = {
        burst: random.whole(chunk, 300),
        rate: random.whole(1, 200),
        processes: random.whole(1, 20),
        chunk,
        life: 0.05 + random.next() * 10,
      }
      if (excessIn(fleet, books, random) > 1e-6) broken += 1
    }
    return broken
  }

  it('keeps the strict bound over the whole fleet', () => {
    expect(brokenIn('law')).toBe(0)
  })

  it('is broken if units are only paid for before they are handed out', () => {
    expect(brokenIn('paid')).toBeGreaterThan(fleets / 4)
  })

  it('is broken if the refill is capped by what is really outstanding at its end', () => {
    expect(brokenIn('outstanding')).toBeGreaterThan(fleets / 100)
  })
})
