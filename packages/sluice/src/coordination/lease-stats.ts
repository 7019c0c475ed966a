// Counters of the leases and synced counts of one process, updated per exchange, never per request.

/**
 * Counts what a process leases. Give it to `withCoordination`, and read it at any time.
 *
 * @example
 * ```ts
 * const stats = new LeaseStats()
 * const store = withCoordination(redisStore(client), { stats })
 * console.log(stats.unitsOut, stats.spent)
 * ```
 */
export class LeaseStats {
  /** Times that the store has leased units. */
  grants = 0
  /** Units leased. */
  granted = 0
  /** Leased units that were spent, counted when the store gets the report. */
  spent = 0
  /** Leased units that went back unspent. */
  returned = 0
  /** Leased units that were neither spent nor given back before their end. */
  expired = 0
  /** Leases that the store had forgotten. */
  lost = 0
  /** Times that counts of `synced` rules were sent to the store, and those of them that failed. */
  flushes = 0
  failedFlushes = 0
  /** Units of `synced` rules that were taken here beyond a limit, as the store found; and the most of one flush. */
  overshoot = 0
  maxOvershoot = 0
  /**
   * The most that this process took of one count of a `synced` rule in any interval, or a little more. A fleet of N exceeds
   * a limit by at most N − 1 times the largest of all processes.
   */
  maxPerInterval = 0
  /** Times that a count changed to leases, to counting in this process, and to a round trip per request. */
  readonly switches = { leasing: 0, synced: 0, strict: 0 }
  private look: () => { readonly out: number; readonly counts: number } = () => NOTHING

  /** Units leased now that are not spent yet. */
  get unitsOut(): number {
    return this.look().out
  }

  /** Counts that are leased now. */
  get counts(): number {
    return this.look().counts
  }

  /** Says where the units that are out now can be counted. */
  watch(look: () => { readonly out: number; readonly counts: number }): void {
    this.look = look
  }
}

const NOTHING = { out: 0, counts: 0 }
