// The time by which leases end: never slower than the monotonic clock, and never slower than the wall clock.

/** How far the two clocks may drift apart unnoticed, in milliseconds. A lease ends by that much earlier here. */
export const CLOCK_TOLERANCE = 16

/** Reads a clock, in milliseconds from any origin, if possible with fractions. */
export type ReadTime = () => number

/**
 * Milliseconds that pass at least as fast as real time does. A monotonic clock may stand still while a machine sleeps,
 * and a wall clock may be set back; whichever has moved further counts.
 *
 * The wall clock is read each time, so that a process that was stopped sees at its next spend how late it is. The
 * monotonic clock is read whenever the wall clock shows another millisecond.
 */
export class LeaseClock {
  private readonly wall: ReadTime
  private readonly monotonic: ReadTime
  private lastWall: number
  /** The wall clock's lead over the monotonic clock, as last accepted. */
  private lead: number
  /** What the wall clock has gained by jumps. */
  private gained = 0
  private time: number

  constructor(wall: ReadTime = () => Date.now(), monotonic: ReadTime = () => performance.now()) {
    this.wall = wall
    this.monotonic = monotonic
    this.lastWall = wall()
    this.time = monotonic()
    this.lead = this.lastWall - this.time
  }

  /** The present instant. Never goes back. */
  now(): number {
    const wall = this.wall()
    return wall === this.lastWall ? this.time : this.refresh(wall)
  }

  private refresh(wall: number): number {
    this.lastWall = wall
    const monotonic = this.monotonic()
    const lead = wall - monotonic
    const ahead = lead - this.lead
    if (ahead > CLOCK_TOLERANCE) this.gained += ahead
    if (ahead > CLOCK_TOLERANCE || ahead < -CLOCK_TOLERANCE) this.lead = lead
    const time = monotonic + this.gained
    if (time > this.time) this.time = time
    return this.time
  }
}
