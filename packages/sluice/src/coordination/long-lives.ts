// Few units of a key that a process meets now and then: how many of them are leased for a long life, and for how long.
import { algorithmOf } from '../algorithms/table.ts'
import type { Limit } from '../limit/limit.ts'
import type { Millis } from '../time/clock.ts'
import type { LeasedCount } from './leased-count.ts'

/** A lease of at most 1/`part` of the burst lasts so many lives. The smallest leases come first. */
const TIERS = [
  { part: 4096, lives: 30 },
  { part: 256, lives: 10 },
] as const
const MAX_LONG_LIFE: Millis = 60_000
/** A lease of one unit saves nothing over a plain check. */
const LEAST = 2

/** The long lives of a process whose leases have this life. While half of a limit is free, a call per key and long life is enough. */
export class LongLives {
  private readonly life: Millis
  private readonly horizon: Millis
  private readonly tiers: readonly { readonly part: number; readonly life: Millis }[]

  /** Demand over less than the horizon cannot predict a long life. */
  constructor(life: Millis, horizon: Millis) {
    this.life = life
    this.horizon = horizon
    this.tiers = TIERS.map(({ part, lives }) => ({
      part,
      life: Math.min(lives * life, MAX_LONG_LIFE),
    }))
  }

  /** The longest of all. */
  get longest(): Millis {
    return this.tiers[0]!.life
  }

  /** How long any process may have leased units of a limit. */
  longestOf(limit: Limit): Millis {
    if (!algorithmOf(limit).hasBurst) return this.life
    return this.lifeOf(LEAST, limit)
  }

  /** How long so many units are leased: one life where they are not few. */
  lifeOf(units: number, limit: Limit): Millis {
    for (const { part, life } of this.tiers)
      if (units * part <= limit.burst && returnsWithin(life, units, limit)) return life
    return this.life
  }

  /** Units to lease for a long life; 0 when that would not be few, or would not last one horizon. */
  unitsFor(count: LeasedCount, now: number): number {
    const { limit } = count
    if (!count.isPlentiful || count.isAuto || !algorithmOf(limit).hasBurst) return 0
    const least = Math.max(LEAST, count.expected(now))
    for (const { part, life } of this.tiers) {
      const slow = count.slowDemand(life, this.horizon)
      // Twice as many as are expected, since a call costs more than they are worth.
      const wanted = slow > 0 ? Math.ceil(2 * slow) + LEAST : 0
      const most = Math.floor(limit.burst / part)
      const isLast = part === TIERS.at(-1)!.part
      const units = isLast ? Math.min(wanted, most) : wanted
      if (units >= least && units <= most && returnsWithin(life, units, limit)) return units
    }
    return 0
  }
}

/**
 * Whether time gives a limit so many units within `life`. Only then may leased units lapse: what lapses is spent, in a window
 * until the window is over.
 */
export function returnsWithin(life: Millis, units: number, limit: Limit): boolean {
  const { quota, window } = limit
  return algorithmOf(limit).hasBurst ? units * window <= quota * life : window <= life
}
