// Opens spare connections when one does not answer, with overlapping attempts until one is ready.
import type { Millis } from '../time/clock.ts'
import type { DuplicateClient } from './client-adapter.ts'
import { startInBackground, type Timers } from '../time/timers.ts'

/** Attempts that are open at once. Each lives for about as many delays. */
const MAX_ATTEMPTS = 4

/** The first attempt is made at once, the second after a delay. */
const FIRST_DELAYED = 2

/** What the attempts need of the connection that they are for. */
export interface SpareOptions {
  /** Opens one connection; undefined if the client cannot. */
  readonly open: () => DuplicateClient | undefined
  /** Whether a new connection is still wanted. */
  readonly isWanted: () => boolean
  /** Receives the first connection that stands. */
  readonly onReady: (spare: DuplicateClient) => void
  /** Milliseconds until the attempt of that number, from 2 on. */
  readonly delay: (attempt: number) => Millis
  readonly timers: Timers
}

/**
 * Tries to connect again and again while a connection is wanted. An attempt is not waited for: one that began while
 * packets were lost may take seconds after the network is well again, and the next one milliseconds.
 */
export class SpareConnections {
  private readonly options: SpareOptions
  private readonly attempts = new Set<DuplicateClient>()
  private timer: unknown
  private next = FIRST_DELAYED

  constructor(options: SpareOptions) {
    this.options = options
  }

  /** Begins, unless it has begun. */
  start(): void {
    if (this.timer !== undefined) return
    this.next = FIRST_DELAYED
    this.attempt()
  }

  /** Closes all attempts. */
  stop(): void {
    this.options.timers.stop(this.timer)
    this.timer = undefined
    for (const attempt of this.attempts) attempt.close()
    this.attempts.clear()
  }

  private readonly attempt = (): void => {
    this.timer = undefined
    const spare = this.options.isWanted() ? this.options.open() : undefined
    if (spare === undefined) return this.stop()
    this.attempts.add(spare)
    spare.ready.then(
      () => this.finish(spare, true),
      () => this.finish(spare, false),
    )
    const [oldest] = this.attempts
    if (this.attempts.size > MAX_ATTEMPTS) this.close(oldest!)
    const { timers, delay } = this.options
    this.timer = startInBackground(timers, this.attempt, delay(this.next++))
  }

  private finish(spare: DuplicateClient, isReady: boolean): void {
    if (!this.attempts.has(spare)) return
    if (!isReady) return this.close(spare)
    if (!this.options.isWanted()) return this.stop()
    this.attempts.delete(spare)
    this.stop()
    this.options.onReady(spare)
  }

  private close(attempt: DuplicateClient): void {
    this.attempts.delete(attempt)
    attempt.close()
  }
}
