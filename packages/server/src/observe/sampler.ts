// Which decisions are looked at closely: all of a quiet service, a sample of a busy one, so that the cost is bounded.

/** Decisions of one tick that are all taken. */
const ALL_TAKEN = 100
/** Beyond them, one in so many is taken at first. */
const LEAST_STEP = 8
/** When so many were taken of one tick, half as many are taken from then on. */
const TAKEN_BY_STEP = 100

/**
 * Chooses decisions at random, since requests may come in a repeating order. However busy a service is, a few
 * hundred decisions of a tick are taken; each stands for as many as the step by which it was chosen.
 */
export class DecisionSampler {
  private tick = 0
  private seen = 0
  /** Decisions until the next that is taken; `rest` of them once all of a new tick's first are. */
  private skip = 0
  private rest = 0
  /** One decision in so many is taken. */
  private step = LEAST_STEP
  /** What the next one that is taken stands for: the step by which it was chosen. */
  private next = LEAST_STEP
  private taken = 0
  private random = 0x2545f491

  /** How many decisions the next one stands for; 0: it is not taken. `tick` changes four times a second. */
  weight(tick: number): number {
    // So short that V8 compiles it into every decision.
    if (tick !== this.tick || this.skip === 0) return this.choose(tick)
    this.skip -= 1
    return 0
  }

  private choose(tick: number): number {
    if (tick !== this.tick) this.turn(tick)
    if (this.seen < ALL_TAKEN) {
      this.seen += 1
      return 1
    }
    if (this.rest > 0) {
      this.skip = this.rest - 1
      this.rest = 0
      return 0
    }
    const weight = this.next
    if (++this.taken % TAKEN_BY_STEP === 0) this.step *= 2
    this.next = this.step
    this.skip = this.gap()
    return weight
  }

  private turn(tick: number): void {
    this.tick = tick
    this.seen = 0
    this.rest += this.skip
    this.skip = 0
    // This tick is probably as busy as the last one; half the step makes up for its doubling meanwhile.
    if (this.step > LEAST_STEP) this.step /= 2
    this.taken = 0
  }

  /** From 0 to twice the step, evenly, so that one in a step is taken. */
  private gap(): number {
    let { random } = this
    random ^= random << 13
    random ^= random >>> 17
    random ^= random << 5
    this.random = random
    return (random >>> 0) % (2 * this.step - 1)
  }
}
