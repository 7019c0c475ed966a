// Refunds that the store itself owes: kept until the server has confirmed them, and sent again meanwhile.
import type { Check } from '../stores/store.ts'
import type { Clock, Millis } from '../time/clock.ts'
import { startInBackground, type Timers } from '../time/timers.ts'

/** A check to refund, and the id by which the server knows a second arrival of the same refund. */
export interface RefundCheck extends Check {
  readonly once?: { readonly id: string; readonly life: Millis }
}

/** A refund that was not confirmed. */
interface Unconfirmed {
  readonly checks: readonly RefundCheck[]
  readonly names: readonly string[]
  /** When it is given up: the counts are full again by themselves, or the server no longer knows its id. */
  readonly until: Millis
  /** Whether an attempt, or the take itself, was not answered in time: the primary that confirms it may be one that is replaced. */
  readonly isDoubtful: boolean
}

/** A doubtful refund that was confirmed, and when it is sent once more. */
interface Confirmed {
  readonly refund: Unconfirmed
  readonly resendAt: Millis
}

/** How refunds reach the server. */
export interface UnconfirmedRefundsOptions {
  /** Rejects if the server has not confirmed the refund. */
  readonly send: (checks: readonly RefundCheck[], names: readonly string[]) => Promise<unknown>
  readonly clock: Clock
  readonly timers: Timers
}

/** Refunds that are kept at most; beyond, the oldest are given up. */
const MAX_KEPT = 10_000
/** Milliseconds until the first repetition. Each round without success doubles it. */
const FIRST_DELAY: Millis = 250
const MAX_DELAY: Millis = 4000
/** The longest time for which a refund is sent again, and for which the server knows its id. */
const MAX_LIFE: Millis = 600_000
/** Milliseconds by which the server knows an id longer than the refund is sent again. */
const MARGIN: Millis = 10_000

/**
 * Milliseconds after which a doubtful refund that was confirmed is sent once more: a primary that hung confirms what its
 * successor never sees, until sentinels (within eight seconds) or the other nodes demote it.
 */
const RESEND_AFTER: Millis = 10_000

/** Ids of one process; no other process has the same. */
const PROCESS = `${Math.random().toString(36).slice(2, 12)}${Math.random().toString(36).slice(2, 7)}`
let lastId = 0

/** Sends refunds until the server has confirmed them. Each acts once, however often it arrives. */
export class UnconfirmedRefunds {
  private readonly options: UnconfirmedRefundsOptions
  private kept: Unconfirmed[] = []
  private timer: unknown
  private confirmed: Confirmed[] = []
  private confirmedTimer: unknown
  private delay = FIRST_DELAY
  private isClosed = false

  constructor(options: UnconfirmedRefundsOptions) {
    this.options = options
  }

  /** How many refunds will be sent again. */
  get size(): number {
    return this.kept.length + this.confirmed.length
  }

  /**
   * Refunds checks whose names share a cluster slot, for `life` milliseconds at most: until then time gives back
   * what was charged. `isDoubtful`: a call of the take was not answered in time. Resolves after the first attempt, whatever
   * came of it.
   */
  async refund(
    checks: readonly Check[],
    names: readonly string[],
    life: Millis,
    isDoubtful = false,
  ): Promise<void> {
    if (checks.length === 0 || life <= 0) return
    const until = this.options.clock() + Math.min(life, MAX_LIFE)
    const id = `${PROCESS}${(lastId++).toString(36)}`
    const once = checks.map((check, i) => ({
      ...check,
      once: { id: `${id}.${i}`, life: Math.ceil(Math.min(life, MAX_LIFE)) + MARGIN },
    }))
    await this.send({ checks: once, names, until, isDoubtful })
  }

  /** Gives up what is not confirmed. */
  close(): void {
    this.isClosed = true
    this.kept = []
    this.confirmed = []
    this.options.timers.stop(this.timer)
    this.options.timers.stop(this.confirmedTimer)
    this.timer = undefined
  }

  private async send(refund: Unconfirmed): Promise<void> {
    try {
      await this.options.send(refund.checks, refund.names)
      this.delay = FIRST_DELAY
    } catch {
      return this.keep({ ...refund, isDoubtful: true })
    }
    if (refund.isDoubtful) this.keepConfirmed(refund)
  }

  private keep(refund: Unconfirmed): void {
    if (this.isClosed || this.options.clock() >= refund.until) return
    if (this.kept.push(refund) > MAX_KEPT) this.kept.shift()
    if (this.timer !== undefined) return
    this.timer = startInBackground(this.options.timers, this.repeat, this.delay)
    this.delay = Math.min(2 * this.delay, MAX_DELAY)
  }

  private readonly repeat = (): void => {
    this.timer = undefined
    const { kept } = this
    this.kept = []
    const now = this.options.clock()
    for (const refund of kept) if (now < refund.until) void this.send(refund)
  }

  private keepConfirmed(refund: Unconfirmed): void {
    const resendAt = this.options.clock() + RESEND_AFTER
    if (this.isClosed || resendAt >= refund.until) return
    if (this.confirmed.push({ refund, resendAt }) > MAX_KEPT) this.confirmed.shift()
    this.confirmedTimer ??= this.waitForConfirmed(RESEND_AFTER)
  }

  private waitForConfirmed(delay: Millis): unknown {
    return startInBackground(this.options.timers, this.sendConfirmed, delay)
  }

  private readonly sendConfirmed = (): void => {
    const now = this.options.clock()
    const due = this.confirmed.filter(({ resendAt }) => resendAt <= now)
    this.confirmed = this.confirmed.filter(({ resendAt }) => resendAt > now)
    const [next] = this.confirmed
    this.confirmedTimer = next && this.waitForConfirmed(next.resendAt - now)
    for (const { refund } of due) void this.send({ ...refund, isDoubtful: false })
  }
}
