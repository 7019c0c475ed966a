// When a client that lost its connection tries again.
import { systemClock, type Clock, type Millis } from '../time/clock.ts'

/** The first attempt comes within so many milliseconds. */
const FIRST: Millis = 50
/** Later ones come after this, and within as much again and a half. */
const LATER: Millis = 300
const SPREAD: Millis = 450
/** Attempts of one process are at least so far apart: fewer than ten in 100 ms. */
const APART: Millis = 12
/** But nobody waits longer than this for the others. */
const LONGEST: Millis = 900

/**
 * Delays for all clients of one process: each at a moment of chance, and no two at the same, so that neither
 * a fleet nor a process with many clients comes back all at once.
 */
export function reconnectDelays(clock: Clock, random: () => number): (attempt: number) => Millis {
  /** The moments that were handed out and have not passed, in order. */
  let taken: Millis[] = []
  return (attempt) => {
    const now = clock()
    taken = taken.filter((moment) => moment > now - APART)
    // ioredis counts from 1, node-redis from 0: for it, the second attempt is quick too.
    const wanted = Math.ceil(attempt <= 1 ? random() * FIRST : LATER + random() * SPREAD)
    const free = freeFrom(now + wanted, taken)
    // With more clients than there is room for, chance alone spreads them.
    if (free - now > LONGEST) return Math.ceil(random() * LONGEST)
    taken.push(free)
    taken.sort((a, b) => a - b)
    return free - now
  }
}

/** The first moment from then on that is far enough from all others. */
function freeFrom(moment: Millis, taken: readonly Millis[]): Millis {
  let free = moment
  for (const other of taken) {
    if (other >= free + APART) break
    if (other > free - APART) free = other + APART
  }
  return free
}

/**
 * Milliseconds until a client tries to connect again: for `retryStrategy` of ioredis and iovalkey, and
 * `reconnectStrategy` of node-redis. Soon after the first loss, then about twice a second for as long as it
 * takes, each client at moments of its own, so that a fleet does not come back all at once. Clients of one
 * process keep apart: fewer than ten of them come in 100 ms, as long as they are not more than about sixty.
 */
export const reconnectDelay: (attempt: number) => Millis = reconnectDelays(systemClock, Math.random)
