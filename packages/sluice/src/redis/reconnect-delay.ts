// When a client that lost its connection tries again.
import { systemClock, type Clock, type Millis } from '../time/clock.ts'

/** The first attempt comes within so many milliseconds: most losses are short. */
const FIRST: Millis = 50
/** Later attempts of one client are so far apart. The second picks its phase within the cycle by chance. */
const CYCLE: Millis = 880
/** Attempts of one process are at least so far apart: seven in 100 ms at most. */
const APART: Millis = 16
/** No client waits longer than this for the others of its process. */
const MAX_DELAY: Millis = 940

/**
 * Delays for all clients of one process. Each client keeps a phase of its own in a common cycle, and no two of a process
 * have the same, so that neither a fleet nor a process with many clients connects all at once.
 */
export function reconnectDelays(clock: Clock, random: () => number): (attempt: number) => Millis {
  /** The instants that were given out and have not passed, in order. */
  let taken: Millis[] = []
  return (attempt) => {
    const now = clock()
    taken = taken.filter((instant) => instant > now - APART)
    const free = freeFrom(now + Math.ceil(wanted(attempt, random)), taken)
    // With more clients than there is room for, chance alone spreads them.
    if (free - now > MAX_DELAY) return Math.ceil(random() * MAX_DELAY)
    taken.push(free)
    taken.sort((a, b) => a - b)
    return free - now
  }
}

/** ioredis counts attempts from 1. */
function wanted(attempt: number, random: () => number): Millis {
  if (attempt <= 1) return random() * FIRST
  return attempt === 2 ? random() * CYCLE : CYCLE
}

/** The first instant from then on that is far enough from all others. */
function freeFrom(instant: Millis, taken: readonly Millis[]): Millis {
  let free = instant
  for (const other of taken) {
    if (other >= free + APART) break
    if (other > free - APART) free = other + APART
  }
  return free
}

/**
 * Milliseconds until a client tries to connect again: for `retryStrategy` of ioredis and iovalkey, which count attempts
 * from 1. Soon after the loss, then every 0.9 s for as long as it takes, each client with a phase of its own. At most
 * ten clients of one process connect in 100 ms, as long as there are no more than about fifty.
 *
 * @example
 * ```ts
 * const client = new Redis({ retryStrategy: reconnectDelay })
 * ```
 */
export const reconnectDelay: (attempt: number) => Millis = reconnectDelays(systemClock, Math.random)
