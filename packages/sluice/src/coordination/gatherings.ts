// Requests of one turn that ask the store about one count: one check for all of them, however many they are.
import type { Source, Verdict } from '../limit/verdict.ts'
import type { TakeReceiver } from '../stores/mapped-takes.ts'
import type { Check } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import type { Timers } from '../time/timers.ts'
import { TurnBatches } from '../time/turn-batches.ts'
import { isUnder } from './leasable.ts'

/** Counts in one exchange at most: its answers come together, and the first must not wait for many others. */
const MAX_TOGETHER = 32

/**
 * Calls in flight from which on further requests gather until one is answered, unless they fill a call: on busy machines a call
 * costs more than what it asks.
 */
const MAX_THIN = 4
/** Milliseconds for which they gather at most: where the store hangs, a request would wait for the deadlines of two calls. */
const MAX_HOLD: Millis = 20

/** A count that requests of one turn ask about. */
export interface GatheringCount {
  /** Its requests of this turn. */
  gathering: Gathering | null
}

/** Requests of one unit each on one count, in the order in which they came. */
export class Gathering {
  readonly check: Check
  units = 0
  /** The verdict on all units together, or why there is none. Known when its turn is done. */
  answer: Verdict | Error | undefined = undefined
  /** That of its turn: one promise for all counts. Never rejects. */
  private readonly done: Promise<void>

  constructor(check: Check, done: Promise<void>) {
    this.check = check
    this.done = done
  }

  /** Takes one more unit. */
  join<T>(receiver: TakeReceiver<T>): Promise<T> {
    this.units += 1
    const place = this.units
    return this.done.then(() => {
      const answer = this.answer!
      if (answer instanceof Error) return receiver.failed(answer)
      return receiver.passed([new GatheredVerdict(answer, place <= (answer.held ?? 0))])
    })
  }
}

/** As many units of a count as there is room for: the verdict's `held` says how many. */
export interface WantedPart<C> {
  /** What is known of the count; null when it is asked for once. */
  readonly count: C | null
  readonly check: Check
  readonly units: number
}

/** Takes the units of several counts. Gives the verdict or the error of each. */
export type TakeParts<C> = (
  parts: readonly WantedPart<C>[],
) => Promise<readonly (Verdict | Error)[]>

/** The gatherings of one turn, each with its count. */
class Turn<C> {
  readonly gatherings: Gathering[] = []
  readonly counts: (C | null)[] = []
  readonly done: Promise<void>
  finish!: () => void

  constructor() {
    this.done = new Promise((resolve) => {
      this.finish = resolve
    })
  }
}

/** The requests that wait for the store. Near its limit a count is asked for each request; a server must not run a script for each. */
export class Gatherings<C extends GatheringCount> {
  private readonly takeParts: TakeParts<C>
  private readonly turns: TurnBatches<number, Turn<C>>
  private inFlight = 0

  constructor(takeParts: TakeParts<C>, timers: Timers) {
    this.takeParts = takeParts
    this.turns = new TurnBatches({
      make: () => new Turn<C>(),
      hasRoom: ({ counts }) => counts.length < MAX_TOGETHER,
      send: (turn) => void this.send(turn),
      isBusy: () => this.inFlight > 0,
      isHeld: () => this.inFlight >= MAX_THIN,
      holdFor: MAX_HOLD,
      timers,
    })
  }

  /** Takes one unit: the first requests get what there is. */
  take<T>(count: C, check: Check, receiver: TakeReceiver<T>): Promise<T> {
    count.gathering ??= this.adopt(count, check) ?? this.open(count, check)
    return count.gathering.join(receiver)
  }

  /** Takes one unit of a count of which nothing is known. */
  takeAlone<T>(check: Check, receiver: TakeReceiver<T>): Promise<T> {
    return this.open(null, check).join(receiver)
  }

  /** A request of this turn that came when nothing was known of the count yet. */
  private adopt(count: C, { space, key, limit }: Check): Gathering | undefined {
    const { counts, gatherings } = this.turns.batchFor(0, 1)
    for (let i = 0; i < counts.length; i++) {
      const { check } = gatherings[i]!
      if (counts[i] !== null || check.key !== key || check.space !== space) continue
      // Tiers share a space: another limit is asked about by itself.
      if (!isUnder(check, limit)) continue
      counts[i] = count
      return gatherings[i]
    }
    return undefined
  }

  private open(count: C | null, check: Check): Gathering {
    const turn = this.turns.batchFor(0, 1)
    const gathering = new Gathering(check, turn.done)
    turn.counts.push(count)
    turn.gatherings.push(gathering)
    return gathering
  }

  private async send({ gatherings, counts, finish }: Turn<C>): Promise<void> {
    for (const count of counts) if (count !== null) count.gathering = null
    this.inFlight += 1
    try {
      const answers = await this.takeParts(
        gatherings.map(({ check, units }, i) => ({ count: counts[i]!, check, units })),
      )
      for (let i = 0; i < gatherings.length; i++) gatherings[i]!.answer = answers[i]!
    } catch (error) {
      for (const gathering of gatherings) gathering.answer = error as Error
    } finally {
      finish()
      this.inFlight -= 1
      this.turns.release()
    }
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
