// Requests of one turn that ask the store about one count: one check for all of them, however many they are.
import type { Source, Verdict } from '../limit/verdict.ts'
import type { Check } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import type { Timers } from '../time/timers.ts'
import { TurnBatches } from '../time/turn-batches.ts'

/** Takes as many of these units as there is room for: the verdict's `held` says how many. */
export type TakePart<C> = (count: C, check: Check, units: number) => Promise<Verdict>

/** Requests of one unit each on one count, in the order in which they came. */
class Gathering<C> {
  count!: C
  check!: Check
  units = 0
  /** Resolves with the verdict on all units together. */
  readonly answer: Promise<Verdict>
  settle!: (answer: Promise<Verdict>) => void

  constructor() {
    this.answer = new Promise((resolve) => {
      this.settle = resolve
    })
  }
}

/** The requests that wait for the store. Near its limit a count is asked for each request; a server must not run a script for each. */
export class Gatherings<C> {
  private readonly batches: TurnBatches<C, Gathering<C>>
  private inFlight = 0

  constructor(takePart: TakePart<C>, timers: Timers) {
    this.batches = new TurnBatches({
      make: () => new Gathering<C>(),
      hasRoom: () => true,
      send: ({ count, check, units, settle }) => {
        this.inFlight += 1
        const answer = takePart(count, check, units)
        settle(answer)
        const ended = (): void => void (this.inFlight -= 1)
        answer.then(ended, ended)
      },
      isBusy: () => this.inFlight > 0,
      timers,
    })
  }

  /** Takes one unit: the first requests get what there is. */
  async take(count: C, check: Check): Promise<Verdict> {
    const gathering = this.batches.batchFor(count, 1)
    gathering.count = count
    gathering.check = check
    gathering.units += 1
    const place = gathering.units
    const together = await gathering.answer
    return new GatheredVerdict(together, place <= (together.held ?? 0))
  }
}

/**
 * The verdict on one unit of several that were taken together. A unit was refused because nothing was left, so the next
 * one that comes free would allow it.
 */
class GatheredVerdict implements Verdict {
  readonly allowed: boolean
  readonly delay: Millis = 0
  private readonly together: Verdict

  constructor(together: Verdict, allowed: boolean) {
    this.together = together
    this.allowed = allowed
  }

  get remaining(): number {
    return this.together.remaining
  }

  get retryAfter(): Millis {
    return this.allowed ? 0 : this.together.availableAfter
  }

  get resetAfter(): Millis {
    return this.together.resetAfter
  }

  get availableAfter(): Millis {
    return this.together.availableAfter
  }

  get at(): Millis {
    return this.together.at
  }

  get source(): Source {
    return this.together.source
  }

  /** The verdict as plain data, for JSON. */
  toJSON(): Verdict {
    const { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at, source } = this
    return { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at, source }
  }
}
