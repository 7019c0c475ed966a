// How much of one count this process needs: units per millisecond, over a sliding horizon.

/** Shorter spans than this many milliseconds say nothing about a rate. */
const MIN_SPAN = 20

/** The observed demand of one count. */
export class Demand {
  private readonly horizon: number
  private since: number
  private units = 0
  /** Units of the horizon before; undefined while the first one lasts. */
  private before: number | undefined

  constructor(horizon: number, now: number) {
    this.horizon = horizon
    this.since = now
  }

  /** Notes units that were wanted since the last call, whether they were granted or not. */
  observe(units: number, now: number): void {
    const { horizon } = this
    const age = now - this.since
    if (age >= 2 * horizon) {
      // Spread over a longer time, of which one horizon has a part.
      this.before = (units * horizon) / age
      this.units = 0
      this.since = now
    } else {
      if (age >= horizon) {
        this.before = this.units
        this.units = 0
        this.since += horizon
      }
      this.units += units
    }
  }

  /** Units that will be wanted within one horizon, if demand stays as it is. */
  perHorizon(now: number): number {
    const { horizon, before, units } = this
    const age = now - this.since
    // One request alone has no rate.
    if (before === undefined)
      return (Math.max(0, units - 1) * horizon) / Math.min(horizon, Math.max(age, MIN_SPAN))
    return units + before * Math.max(0, 1 - age / horizon)
  }
}
