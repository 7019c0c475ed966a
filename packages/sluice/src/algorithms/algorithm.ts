// What an algorithm is: a handful of functions over one small state. Nothing here reads a clock.
import type { CalendarUnit, Weekday } from '../time/calendar.ts'
import type { Millis } from '../time/clock.ts'

/** The numbers of a limit, which are all that an algorithm reads of it. */
export interface LimitNumbers {
  /** Units per window; 0 refuses every cost above 0. */
  readonly quota: number
  readonly window: Millis
  /** Most units at once. */
  readonly burst: number
  /** When windows begin: with the first request instead of at multiples of the window. */
  readonly anchor?: 'first'
  /** Windows are the days, weeks or months of a time zone; `window` is then the longest of them in whole days. */
  readonly calendar?: CalendarUnit
  readonly timeZone?: string
  readonly startsOn?: Weekday | number
  /** For a sliding log: how many instants it keeps at most. It keeps that of each ceil(quota / stamps)-th unit. */
  readonly stamps?: number
  /** For the count of a lockout: the length of the first lock, the factor from one to the next, and the longest. */
  readonly lockFor?: Millis
  readonly lockGrow?: number
  readonly lockUpTo?: Millis
}

/**
 * What is stored of one count. Whole numbers only. Their meaning is the algorithm's own: `at` is an instant, `used` and
 * `before` are amounts.
 *
 * An algorithm changes the state in place, because a new object for each step would cost more than the arithmetic. The
 * caller owns the state; `take` of `limit/take.ts` works on a copy and is a pure function.
 */
export interface State {
  at: Millis
  used: number
  before: number
}

/**
 * The functions of one algorithm. `take` comes first; every other function receives the state that `take` left, at the
 * same `now`. Instants are absolute, so that one subtraction gives every wait.
 *
 * Shared rules. `used` may be above what the limit holds, because a larger limit counted it. It then reads as full and
 * stays as it is, so that no limit hands out what another has counted. When the clock goes back by up to one window,
 * time stands still until the clock has caught up, so that nothing is granted twice. When it goes back further, it was
 * set: the state moves to the new time with its units unchanged, so that no key stays shut.
 */
export interface Algorithm<S extends State = State> {
  /** The state of a count that has none: the full quota. */
  fresh(limit: LimitNumbers, now: Millis): S
  /** Takes the cost if it fits at `now`, and returns whether it did. A cost of 0 always fits. */
  take(limit: LimitNumbers, state: S, cost: number, now: Millis): boolean
  /** Takes a cost above 0, whether it fits or not; never beyond full, and never lowers what is there. */
  spend(limit: LimitNumbers, state: S, cost: number, now: Millis): void
  /** Hands back a cost taken at `takenAt`: never above full, and nothing that time has already given back. */
  refund(limit: LimitNumbers, state: S, cost: number, now: Millis, takenAt: Millis): void
  /** The largest cost that fits. */
  remaining(limit: LimitNumbers, state: S, now: Millis): number
  /** The first instant at which a cost that does not fit now will fit; only called for a cost within the burst. */
  freeAt(limit: LimitNumbers, state: S, cost: number, now: Millis): Millis
  /** The first instant at which the state answers as no state does. */
  fullAt(limit: LimitNumbers, state: S, now: Millis): Millis
  /** How long to hold a request that was just allowed; `state` is the state after it. */
  delay(limit: LimitNumbers, state: S, cost: number, now: Millis): Millis
}

/**
 * The numbers of a large state by which most takes of one unit are decided. A store keeps them beside the key, so that
 * such a take does not touch the state itself, which a cache rarely holds.
 */
export interface Front {
  /** How many numbers there are. */
  readonly numbers: number
  /** Writes the numbers of a state. */
  write(state: State, numbers: Float64Array, from: number): void
  /** Brings a state up to date with the takes since `write`. */
  read(state: State, numbers: Float64Array, from: number): void
  /**
   * Takes one unit if these numbers are enough to decide, and writes what the answer needs into `output`. Undefined, with
   * nothing done, if only the state can decide.
   */
  takeOne(
    limit: LimitNumbers,
    numbers: Float64Array,
    from: number,
    now: Millis,
    output: State,
  ): boolean | undefined
}

/** One row of the table of algorithms: its functions, and what stores, scripts and parsers must know of it. */
export interface AlgorithmRow extends Algorithm {
  /**
   * How many numbers of the state a store keeps: 2 (`at`, `used`), 3 (with `before`), or 0 for a state that is more than
   * its numbers. The Redis scripts store and return as many.
   */
  readonly words: 0 | 2 | 3
  /** Bytes of a state that is more than its numbers, about; the memory store bounds their sum. */
  bytesOf?(state: State): number
  /**
   * For a state that is more than its numbers: takes one unit from the state itself, and writes three numbers into
   * `output` that the other functions accept as a state. Undefined, with nothing done, when only `take` can decide. A
   * refusal leaves the state as it was, unless the clock was set back.
   */
  takeOne?(limit: LimitNumbers, state: State, now: Millis, output: State): boolean | undefined
  /** For a row with `takeOne`: the numbers that decide most takes. */
  readonly front?: Front
  /** The file in `redis/lua`, without its ending. Algorithms of one arithmetic share a file. */
  readonly lua: string
  /** Whether a limit may have a burst that differs from its quota. */
  readonly hasBurst: boolean
  /** The largest quota, where the state grows with it. */
  readonly maxQuota: number
  /** Whether an allowed request may have to wait: whether `delay` can be above 0. */
  readonly delays: boolean
  /** Whether units of a count may be out beside what is spent. */
  readonly canHold: boolean
  /** Whether its windows are aligned to the epoch: leased units end with their window. */
  readonly isAligned: boolean
}
