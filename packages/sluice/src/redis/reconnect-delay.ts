// When a client that lost its connection tries again.
import type { Millis } from '../time/clock.ts'

/** The first attempt comes within so many milliseconds. */
const FIRST: Millis = 50
/** Later ones come after this, and within as much again and a half. */
const LATER: Millis = 300
const SPREAD: Millis = 450

/**
 * Milliseconds until a client tries to connect again: for `retryStrategy` of ioredis and iovalkey, and
 * `reconnectStrategy` of node-redis. Soon after the first loss, then about twice a second for as long as it
 * takes, each client at moments of its own, so that a fleet does not come back all at once.
 */
export function reconnectDelay(attempt: number): Millis {
  // ioredis counts from 1, node-redis from 0: for it, the second attempt is quick too.
  if (attempt <= 1) return Math.ceil(Math.random() * FIRST)
  return Math.ceil(LATER + Math.random() * SPREAD)
}
