// Combines the requests of one event-loop turn on one count into one check, so that the store is called once for all.
import type { Source, Verdict } from '../limit/verdict.ts'
import type { TakeReceiver } from '../stores/mapped-takes.ts'
import type { Check } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import type { Timers } from '../time/timers.ts'
import { TurnBatches } from '../time/turn-batches.ts'
import { hasSameLimit } from './leasable.ts'

/** Counts in one call at most: all answers arrive together, so the first one waits for the others. */
const MAX_COUNTS_PER_CALL = 32

/** With so many calls in flight, further requests wait until one is answered, or until they fill a call: calls are expensive. */
const MAX_CALLS_IN_FLIGHT = 4
/** Milliseconds that they wait at most: on a hanging store, a request would otherwise wait for two deadlines. */
const MAX_HOLD: Millis = 20

/** A count with requests for its units. */
export interface CombinedTakeOwner {
  /** The combined requests of this turn; null for none. */
  combinedTake: CombinedTake | null
}

/** Requests for one unit each of one count, in order of arrival. */
export class CombinedTake {
  readonly check: Check
  units = 0
  /** The verdict on the sum of all units, or the error; set before `done` resolves. */
  answer: Verdict | Error | undefined = undefined
  /** The promise of its turn, shared by all counts. Never rejects. */
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
      return receiver.passed([new UnitVerdict(answer, place <= (answer.held ?? 0))])
    })
  }
}

/** A request for up to so many units of a count; `held` of the verdict says how many were granted. */
export interface WantedPart<C> {
  /** Null for a count that this process does not keep. */
  readonly count: C | null
  readonly check: Check
  readonly units: number
}

/** Takes units of several counts. Resolves with the verdict or the error of each. */
export type TakeParts<C> = (
  parts: readonly WantedPart<C>[],
) => Promise<readonly (Verdict | Error)[]>

/** The combined takes of one turn, each with its count. */
class Turn<C> {
  readonly takes: CombinedTake[] = []
  readonly counts: (C | null)[] = []
  readonly done: Promise<void>
  finish!: () => void

  constructor() {
    this.done = new Promise((resolve) => {
      this.finish = resolve
    })
  }
}

/** The requests that wait for the store. Near a limit, every request asks the store; combined, they cost one script run. */
export class CombinedTakes<C extends CombinedTakeOwner> {
  private readonly takeParts: TakeParts<C>
  private readonly turns: TurnBatches<number, Turn<C>>

  constructor(takeParts: TakeParts<C>, timers: Timers) {
    this.takeParts = takeParts
    this.turns = new TurnBatches({
      make: () => new Turn<C>(),
      hasRoom: ({ counts }) => counts.length < MAX_COUNTS_PER_CALL,
      send: (turn) => void this.send(turn),
      maxInFlight: MAX_CALLS_IN_FLIGHT,
      holdFor: MAX_HOLD,
      timers,
    })
  }

  /** Takes one unit. If units are short, the first requests get them. */
  take<T>(count: C, check: Check, receiver: TakeReceiver<T>): Promise<T> {
    count.combinedTake ??= this.joinUncounted(count, check) ?? this.open(count, check)
    return count.combinedTake.join(receiver)
  }

  /** Takes one unit of a count that this process does not keep. */
  takeAlone<T>(check: Check, receiver: TakeReceiver<T>): Promise<T> {
    return this.open(null, check).join(receiver)
  }

  /** The combined take that `takeAlone` opened for the same count in this turn. */
  private joinUncounted(count: C, { space, key, limit }: Check): CombinedTake | undefined {
    const { counts, takes } = this.turns.batchFor(0, 1)
    for (let i = 0; i < counts.length; i++) {
      const { check } = takes[i]!
      if (counts[i] !== null || check.key !== key || check.space !== space) continue
      // Tiers share a space; a check has one limit.
      if (!hasSameLimit(check, limit)) continue
      counts[i] = count
      return takes[i]
    }
    return undefined
  }

  private open(count: C | null, check: Check): CombinedTake {
    const turn = this.turns.batchFor(0, 1)
    const combinedTake = new CombinedTake(check, turn.done)
    turn.counts.push(count)
    turn.takes.push(combinedTake)
    return combinedTake
  }

  private async send({ takes, counts, finish }: Turn<C>): Promise<void> {
    for (const count of counts) if (count !== null) count.combinedTake = null
    this.turns.inFlight += 1
    try {
      const answers = await this.takeParts(
        takes.map(({ check, units }, i) => ({ count: counts[i]!, check, units })),
      )
      for (let i = 0; i < takes.length; i++) takes[i]!.answer = answers[i]!
    } catch (error) {
      for (const combinedTake of takes) combinedTake.answer = error as Error
    } finally {
      finish()
      this.turns.inFlight -= 1
      this.turns.release()
    }
  }
}

/** The verdict on one of several units that were taken together. A refused unit waits for the next one that comes free. */
class UnitVerdict implements Verdict {
  readonly allowed: boolean
  readonly delay: Millis = 0
  private readonly verdictOnAll: Verdict

  constructor(verdictOnAll: Verdict, allowed: boolean) {
    this.verdictOnAll = verdictOnAll
    this.allowed = allowed
  }

  get remaining(): number {
    return this.verdictOnAll.remaining
  }

  get retryAfter(): Millis {
    return this.allowed ? 0 : this.verdictOnAll.availableAfter
  }

  get resetAfter(): Millis {
    return this.verdictOnAll.resetAfter
  }

  get availableAfter(): Millis {
    return this.verdictOnAll.availableAfter
  }

  get at(): Millis {
    return this.verdictOnAll.at
  }

  get source(): Source {
    return this.verdictOnAll.source
  }

  /** The verdict as plain data, for JSON. */
  toJSON(): Verdict {
    const { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at, source } = this
    return { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at, source }
  }
}
