// The counts of a simulated server: the algorithms themselves, with every write in a journal, so that some can be lost.
import type { State } from '../../src/algorithms/algorithm.ts'
import type { Millis } from '../../src/time/clock.ts'
import type { WireCall, WireCheck, WireRequest } from './wire.ts'

interface Write {
  readonly at: Millis
  readonly name: string
  readonly state: State | undefined
}

/** Receives each unit that is charged, and each that is handed back. */
export interface Ledger {
  taken(name: string, cost: number): void
  refunded(name: string, cost: number, takenAt: Millis | undefined): void
}

const REFUSED = 0
const TAKEN = 1
const LOOKED_AT = 2

/** Counts by name. */
export class Counts {
  private states = new Map<string, State>()
  private journal: Write[] = []
  private readonly ledger: Ledger
  private readonly worldNow: () => Millis

  constructor(worldNow: () => Millis, ledger: Ledger) {
    this.worldNow = worldNow
    this.ledger = ledger
  }

  /** Runs a call at a server time, and answers as the script does. */
  run({ isPlain, requests }: WireCall, now: Millis): number[] {
    const reply = [now]
    for (const request of requests) this.decide(request, now, isPlain, reply)
    return reply
  }

  /** Only what was written until an instant remains. Returns whether anything was lost. */
  keepUntil(instant: Millis): boolean {
    const kept = this.journal.filter(({ at }) => at <= instant)
    if (kept.length === this.journal.length) return false
    this.states = new Map()
    for (const { name, state } of kept) {
      if (state === undefined) this.states.delete(name)
      else this.states.set(name, copyOf(state))
    }
    this.journal = kept
    return true
  }

  /** Drops one count, as a full server does. Returns its name. */
  drop(pick: (names: readonly string[]) => string): string | undefined {
    const names = [...this.states.keys()]
    if (names.length === 0) return undefined
    const name = pick(names)
    this.write(name, undefined)
    return name
  }

  private decide(
    { operation, checks }: WireRequest,
    now: Millis,
    isPlain: boolean,
    reply: number[],
  ): void {
    if (operation === 'refund') for (const check of checks) this.refund(check, now)
    else if (operation === 'reset')
      for (const { name, leavesTrace } of checks)
        this.write(name, leavesTrace ? { at: 0, used: 0, before: 0 } : undefined)
    else {
      const views = checks.map((check) => this.viewOf(check, now))
      const fits = checks.map(({ algorithm, limit, cost }, i) =>
        algorithm.take(limit, views[i]!, cost, now),
      )
      const isTaken = operation === 'take' && fits.every(Boolean)
      for (const [i, check] of checks.entries()) {
        if (isTaken && check.cost > 0) {
          this.write(check.name, views[i]!)
          this.ledger.taken(check.name, check.cost)
        }
        const shown = isTaken || !fits[i] ? views[i]! : this.lookedAt(check, now)
        const answer = isTaken ? TAKEN : fits[i] ? LOOKED_AT : REFUSED
        show(check, shown, answer, now, isPlain, reply)
      }
    }
  }

  private viewOf({ name, algorithm, limit, lastState }: WireCheck, now: Millis): State {
    const state = this.states.get(name) ?? lastState
    return state === undefined ? algorithm.fresh(limit, now) : copyOf(state)
  }

  private lookedAt(check: WireCheck, now: Millis): State {
    const view = this.viewOf(check, now)
    check.algorithm.take(check.limit, view, 0, now)
    return view
  }

  private refund(check: WireCheck, now: Millis): void {
    const { name, algorithm, limit, cost, takenAt, once } = check
    if (once !== undefined) {
      const mark = `${name}:${once}`
      if (this.states.has(mark)) return
      this.write(mark, { at: now, used: 0, before: 0 })
    }
    this.ledger.refunded(name, cost, takenAt)
    if (!this.states.has(name)) return
    const view = this.lookedAt(check, now)
    algorithm.refund(limit, view, cost, now, takenAt ?? now)
    this.write(name, view)
  }

  private write(name: string, state: State | undefined): void {
    if (state === undefined) this.states.delete(name)
    else this.states.set(name, state)
    this.journal.push({ at: this.worldNow(), name, state: state && copyOf(state) })
  }
}

/** Copies of a log share their entries, which is what its algorithm expects. */
function copyOf(state: State): State {
  return { ...state }
}

/** Adds the numbers of one check to a reply: take-all.lua and take-buckets.lua say which. */
function show(
  { algorithm, limit, cost }: WireCheck,
  state: State,
  answer: number,
  now: Millis,
  isPlain: boolean,
  reply: number[],
): void {
  const age = now - state.at
  if (isPlain) {
    if (answer === TAKEN && age === 0) reply.push(state.used)
    else reply.push(-1 - answer, age, state.used)
  } else if (algorithm.words === 0) {
    const remaining = algorithm.remaining(limit, state, now)
    const freeAt = answer === REFUSED ? algorithm.freeAt(limit, state, cost, now) : 0
    const isFull = remaining >= limit.quota
    const available = isFull ? 0 : algorithm.freeAt(limit, state, remaining + 1, now)
    reply.push(answer, state.used, algorithm.fullAt(limit, state, now), freeAt, available)
  } else {
    reply.push(answer, age, state.used)
    if (algorithm.words === 3) reply.push(state.before)
  }
}
