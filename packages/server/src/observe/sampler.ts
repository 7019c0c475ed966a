// Which decisions are looked at closely: all of a quiet service, a sample of a busy one, so that the cost has a bound.

/** Decisions of one tick that are all taken. */
const ALL_TAKEN = 250
/** Of more, one in so many stands for as many. */
export const SAMPLE = 32

/** Chooses decisions by chance: requests may come in an order that repeats itself. */
export class DecisionSampler {
  private tick = 0
  private seen = 0
  /** Decisions until the next that is taken. */
  private skip = 0
  private random = 0x2545f491

  /** How many decisions the next one stands for; 0: it is not taken. `tick` changes four times a second. */
  weight(tick: number): number {
    if (tick !== this.tick) {
      this.tick = tick
      this.seen = 0
    }
    if (this.seen < ALL_TAKEN) {
      this.seen += 1
      return 1
    }
    if (this.skip > 0) {
      this.skip -= 1
      return 0
    }
    this.skip = this.gap()
    return SAMPLE
  }

  /** From 0 to twice {@link SAMPLE}, evenly, so that one in {@link SAMPLE} is taken. */
  private gap(): number {
    let { random } = this
    random ^= random << 13
    random ^= random >>> 17
    random ^= random << 5
    this.random = random
    return (random >>> 0) % (2 * SAMPLE - 1)
  }
}
