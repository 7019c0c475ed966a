// Those who wait for their turn, first come first served, with one timer for all of them.
import { SluiceError } from '../errors.ts'
import type { Millis } from '../time/clock.ts'
import { AbortGroups } from './abort-groups.ts'
import { backoff } from './backoff.ts'
import type { Gate, Passage } from './gate.ts'
import { Line, type Place } from './line.ts'
import type { Timers } from './timers.ts'
import { neverFits, queueFull, waitTooLong } from './waiting-errors.ts'

/** Bounds of a queue. */
export interface QueueOptions {
  readonly maxWait: Millis
  readonly maxQueue: number
  readonly timers: Timers
}

interface Waiter extends Place<Waiter> {
  readonly cost: number
  readonly deadline: Millis
  readonly signal: AbortSignal | undefined
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
  /** Its wait has been looked at with the head's known. */
  isHopeful: boolean
  isGone: boolean
}

/** A FIFO queue in front of a gate. Only its head asks, so no large cost is overtaken by small ones. */
export class Queue {
  private readonly gate: Gate
  private readonly options: QueueOptions
  private readonly line = new Line<Waiter>()
  private readonly aborts = new AbortGroups<Waiter>((waiters, reason) =>
    this.leave(waiters, reason),
  )
  /** The costs of all who wait. */
  private units = 0
  /** Units that the gate had left when it last let somebody pass. */
  private room = 0
  /** Those for whom the gate is being asked. */
  private asking: readonly Waiter[] | undefined
  /** When the head may ask again; undefined while nobody knows. */
  private nextTry: Millis | undefined
  private timer: unknown
  private timerAt: Millis = Infinity
  /** Why the gate did not answer, and the waits until it is asked again. */
  private failure: unknown
  private failures: ReturnType<typeof backoff> | undefined

  constructor(gate: Gate, options: QueueOptions) {
    this.gate = gate
    this.options = options
  }

  /** How many wait, those whose question is on its way to a remote gate included. */
  get size(): number {
    return this.line.size
  }

  /** Resolves when the cost may go on; rejects at once when it cannot within `maxWait`. */
  take(cost: number, signal?: AbortSignal): Promise<void> {
    const { maxQueue, maxWait, timers } = this.options
    if (signal?.aborted) return Promise.reject(signal.reason as Error)
    if (this.line.size >= maxQueue) return Promise.reject(queueFull(maxQueue))
    const now = timers.clock()
    const least = this.leastWait(this.units + cost, now)
    if (least > maxWait) return Promise.reject(waitTooLong(maxWait, least, this.failure))
    return new Promise((resolve, reject) => {
      const isHopeful = this.nextTry !== undefined
      const place = { before: undefined, after: undefined, isHopeful, isGone: false }
      const waiter = { cost, deadline: now + maxWait, signal, resolve, reject, ...place }
      this.units += cost
      this.line.push(waiter)
      if (signal) this.aborts.add(signal, waiter)
      if (this.line.first === waiter) this.pump()
    })
  }

  /** Sends everybody away. */
  clear(reason: unknown): void {
    while (this.line.first !== undefined) this.remove(this.line.first).reject(reason)
    this.arm()
  }

  /** The gate or the head has changed: asks again now. */
  poke(): void {
    if (this.failure === undefined) this.nextTry = undefined
    this.pump()
  }

  /** The least wait of whoever stands at the end of so many units; 0 while the head's own is unknown. */
  private leastWait(units: number, now: Millis): Millis {
    const head = this.line.first
    if (this.nextTry === undefined || head === undefined) return 0
    return Math.max(0, this.nextTry - now) + this.gate.leastWait(head.cost, units - head.cost)
  }

  /** Asks for the head as long as the gate lets pass; then sets the timer. */
  private pump(): void {
    while (this.asking === undefined && this.line.first !== undefined && !this.mustWait()) {
      const group = this.nextGroup()
      try {
        const passage = this.gate.take(group.reduce((sum, { cost }) => sum + cost, 0))
        if ('then' in passage) this.expect(group, passage)
        else this.settle(group, passage)
      } catch (error) {
        this.fail(error)
      }
    }
    this.arm()
  }

  private mustWait(): boolean {
    return this.nextTry !== undefined && this.nextTry > this.options.timers.clock()
  }

  /** The head, and those behind it for whom there was room as well: one question to a remote gate serves them all. */
  private nextGroup(): readonly Waiter[] {
    const group: Waiter[] = []
    let sum = 0
    for (let waiter = this.line.first; waiter !== undefined; waiter = waiter.after) {
      sum += waiter.cost
      if (group.length > 0 && sum > this.room) break
      group.push(waiter)
    }
    return group
  }

  private expect(group: readonly Waiter[], passage: Promise<Passage>): void {
    this.asking = group
    passage
      .then((answer) => {
        if (this.asking === group) this.settle(group, answer)
        else if (answer.allowed) for (const { cost } of group) this.giveBack(cost, answer.at)
      })
      .catch((error: unknown) => {
        if (this.asking === group) this.fail(error)
      })
      .finally(() => {
        if (this.asking !== group) return
        this.asking = undefined
        this.pump()
      })
  }

  private settle(group: readonly Waiter[], passage: Passage): void {
    this.failure = undefined
    this.failures = undefined
    this.nextTry = undefined
    this.room = passage.allowed ? passage.remaining : 0
    if (passage.allowed) {
      for (const waiter of group) {
        if (waiter.isGone) this.giveBack(waiter.cost, passage.at)
        else this.remove(waiter).resolve()
      }
    } else if (group.length === 1 && group[0] === this.line.first) {
      this.refuse(group[0]!, passage.retryAfter)
    }
    // Else the group did not fit, or its head has left: whoever is head now asks alone.
  }

  private refuse(head: Waiter, retryAfter: Millis | null): void {
    const { maxWait, timers } = this.options
    const now = timers.clock()
    if (retryAfter === null) {
      this.remove(head).reject(neverFits(head.cost))
    } else if (now + retryAfter > head.deadline) {
      this.remove(head).reject(waitTooLong(maxWait, now + retryAfter - (head.deadline - maxWait)))
    } else {
      this.nextTry = now + Math.max(1, retryAfter)
      this.dismissHopeless(now)
    }
  }

  /** Those who came while nobody knew when the head would pass learn now whether they can. */
  private dismissHopeless(now: Millis): void {
    let units = this.units
    let waiter = this.line.last
    while (waiter !== undefined && waiter !== this.line.first && !waiter.isHopeful) {
      const { before, cost, deadline } = waiter
      const least = this.leastWait(units, now)
      if (now + least > deadline)
        this.remove(waiter).reject(waitTooLong(this.options.maxWait, least))
      else waiter.isHopeful = true
      units -= cost
      waiter = before
    }
  }

  /** A gate that may recover is asked again, less and less often, until those who wait run out of time. */
  private fail(error: unknown): void {
    if (!(error instanceof SluiceError && error.transient)) return this.clear(error)
    this.room = 0
    this.failure = error
    this.failures ??= backoff({ base: 100, cap: 5000, jitter: 'none' })
    this.nextTry = this.options.timers.clock() + (this.failures.next().value ?? 0)
  }

  private leave(waiters: ReadonlySet<Waiter>, reason: unknown): void {
    const head = this.line.first
    for (const waiter of waiters) this.remove(waiter).reject(reason)
    // The next one may cost less, and pass earlier.
    if (this.line.first !== head) this.poke()
  }

  private remove(waiter: Waiter): Waiter {
    waiter.isGone = true
    this.units -= waiter.cost
    this.line.remove(waiter)
    if (waiter.signal) this.aborts.remove(waiter.signal, waiter)
    return waiter
  }

  /** Nobody waits for it, and what cannot be handed back is lost. */
  private giveBack(cost: number, takenAt: Millis): void {
    void (async () => this.gate.refund(cost, takenAt))().catch(() => {})
  }

  /** Sets the one timer to what happens next by itself: the head may ask, or has waited too long. */
  private arm(): void {
    const { timers } = this.options
    const head = this.line.first
    const tryAt = this.asking ? Infinity : (this.nextTry ?? Infinity)
    const at = head === undefined ? Infinity : Math.min(tryAt, head.deadline)
    if (at === this.timerAt) return
    timers.clear(this.timer)
    this.timer = at === Infinity ? undefined : timers.set(this.tick, at - timers.clock())
    this.timerAt = at
  }

  private readonly tick = (): void => {
    this.timerAt = Infinity
    const { maxWait, timers } = this.options
    const now = timers.clock()
    if (this.asking || this.mustWait()) {
      // All wait equally long, so those who came first run out of time first.
      for (let head = this.line.first; head && head.deadline <= now; head = this.line.first)
        this.remove(head).reject(waitTooLong(maxWait, maxWait, this.failure))
      // An answer that nobody waits for any more may never come.
      if (this.asking?.every(({ isGone }) => isGone)) this.asking = undefined
    }
    this.pump()
  }
}
