// Calls that wait for their turn, first come first served, with one timer for all of them.
import { SluiceError } from '../errors.ts'
import type { Millis } from '../time/clock.ts'
import { AbortGroups } from './abort-groups.ts'
import { backoff } from './backoff.ts'
import type { Gate, GateAnswer } from './gate.ts'
import { LinkedList, type ListNode } from './linked-list.ts'
import type { ClientTimers } from './timers.ts'
import { neverFits, queueFull, waitTooLong } from './waiting-errors.ts'

/** The bounds of a queue. */
export interface TurnQueueOptions {
  readonly maxWait: Millis
  readonly maxQueue: number
  readonly timers: ClientTimers
}

interface Waiter extends ListNode<Waiter> {
  readonly cost: number
  readonly deadline: Millis
  readonly signal: AbortSignal | undefined
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
  /** Its wait has been checked against maxWait since the head's wait is known. */
  isChecked: boolean
  isGone: boolean
}

/** A FIFO queue in front of a gate. Only the head asks the gate, so small costs never overtake a large one. */
export class TurnQueue {
  private readonly gate: Gate
  private readonly options: TurnQueueOptions
  private readonly waiters = new LinkedList<Waiter>()
  private readonly aborts = new AbortGroups<Waiter>((waiters, reason) =>
    this.abort(waiters, reason),
  )
  /** The sum of the costs of all waiting calls. */
  private units = 0
  /** Units that the gate had left when a call last passed. */
  private room = 0
  /** The calls for which a request to the gate is in flight. */
  private askedGroup: readonly Waiter[] | undefined
  /** When the head may ask again; undefined while that is unknown. */
  private nextTry: Millis | undefined
  private timer: unknown
  private timerAt: Millis = Infinity
  /** The gate's last error, and the delays until it is asked again. */
  private failure: unknown
  private failures: ReturnType<typeof backoff> | undefined

  constructor(gate: Gate, options: TurnQueueOptions) {
    this.gate = gate
    this.options = options
  }

  /** How many calls wait, including those for which a request to a remote gate is in flight. */
  get size(): number {
    return this.waiters.size
  }

  /** Resolves at the call's turn. Rejects at once if that cannot come within `maxWait`. */
  take(cost: number, signal?: AbortSignal): Promise<void> {
    const { maxQueue, maxWait, timers } = this.options
    if (signal?.aborted) return Promise.reject(signal.reason as Error)
    if (this.waiters.size >= maxQueue) return Promise.reject(queueFull(maxQueue))
    const now = timers.clock()
    const least = this.leastWait(this.units + cost, now)
    if (least > maxWait) return Promise.reject(waitTooLong(maxWait, least, this.failure))
    return new Promise((resolve, reject) => {
      const isChecked = this.nextTry !== undefined
      const place = { before: undefined, after: undefined, isChecked, isGone: false }
      const waiter = { cost, deadline: now + maxWait, signal, resolve, reject, ...place }
      this.units += cost
      this.waiters.push(waiter)
      if (signal) this.aborts.add(signal, waiter)
      if (this.waiters.first === waiter) this.pump()
    })
  }

  /** Rejects all waiting calls. */
  clear(reason: unknown): void {
    while (this.waiters.first !== undefined) this.remove(this.waiters.first).reject(reason)
    this.setTimer()
  }

  /** Asks the gate again now, because the gate or the head has changed. */
  recheck(): void {
    if (this.failure === undefined) this.nextTry = undefined
    this.pump()
  }

  /** A lower bound of the wait of the last of so many units; 0 while the head's wait is unknown. */
  private leastWait(units: number, now: Millis): Millis {
    const head = this.waiters.first
    if (this.nextTry === undefined || head === undefined) return 0
    return Math.max(0, this.nextTry - now) + this.gate.leastWait(head.cost, units - head.cost)
  }

  /** Asks the gate for the head until the gate refuses; then sets the timer. */
  private pump(): void {
    while (this.askedGroup === undefined && this.waiters.first !== undefined && !this.mustWait()) {
      const group = this.nextGroup()
      try {
        const answer = this.gate.take(group.reduce((sum, { cost }) => sum + cost, 0))
        if ('then' in answer) this.awaitAnswer(group, answer)
        else this.settle(group, answer)
      } catch (error) {
        this.fail(error)
      }
    }
    this.setTimer()
  }

  private mustWait(): boolean {
    return this.nextTry !== undefined && this.nextTry > this.options.timers.clock()
  }

  /** The head and the calls behind it that fit into the known room: one request to a remote gate serves them all. */
  private nextGroup(): readonly Waiter[] {
    const group: Waiter[] = []
    let sum = 0
    for (let waiter = this.waiters.first; waiter !== undefined; waiter = waiter.after) {
      sum += waiter.cost
      if (group.length > 0 && sum > this.room) break
      group.push(waiter)
    }
    return group
  }

  private awaitAnswer(group: readonly Waiter[], pending: Promise<GateAnswer>): void {
    this.askedGroup = group
    pending
      .then((answer) => {
        if (this.askedGroup === group) this.settle(group, answer)
        else if (answer.allowed) for (const { cost } of group) this.refund(cost, answer.at)
      })
      .catch((error: unknown) => {
        if (this.askedGroup === group) this.fail(error)
      })
      .finally(() => {
        if (this.askedGroup !== group) return
        this.askedGroup = undefined
        this.pump()
      })
  }

  private settle(group: readonly Waiter[], answer: GateAnswer): void {
    this.failure = undefined
    this.failures = undefined
    this.nextTry = undefined
    this.room = answer.allowed ? answer.remaining : 0
    if (answer.allowed) {
      for (const waiter of group) {
        if (waiter.isGone) this.refund(waiter.cost, answer.at)
        else this.remove(waiter).resolve()
      }
    } else if (group.length === 1 && group[0] === this.waiters.first) {
      this.refuse(group[0]!, answer.retryAfter)
    }
    // Otherwise the group did not fit or its head was aborted: the present head asks alone.
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
      this.rejectTooLate(now)
    }
  }

  /** Rejects calls that joined while the head's wait was unknown and cannot pass in time. */
  private rejectTooLate(now: Millis): void {
    let units = this.units
    let waiter = this.waiters.last
    while (waiter !== undefined && waiter !== this.waiters.first && !waiter.isChecked) {
      const { before, cost, deadline } = waiter
      const least = this.leastWait(units, now)
      if (now + least > deadline)
        this.remove(waiter).reject(waitTooLong(this.options.maxWait, least))
      else waiter.isChecked = true
      units -= cost
      waiter = before
    }
  }

  /** After a transient error the gate is asked again, at growing intervals, until the waiting calls run out of time. */
  private fail(error: unknown): void {
    if (!(error instanceof SluiceError && error.transient)) return this.clear(error)
    this.room = 0
    this.failure = error
    this.failures ??= backoff({ base: 100, cap: 5000, jitter: 'none' })
    this.nextTry = this.options.timers.clock() + (this.failures.next().value ?? 0)
  }

  private abort(waiters: ReadonlySet<Waiter>, reason: unknown): void {
    const head = this.waiters.first
    for (const waiter of waiters) this.remove(waiter).reject(reason)
    // The new head may cost less and pass earlier.
    if (this.waiters.first !== head) this.recheck()
  }

  private remove(waiter: Waiter): Waiter {
    waiter.isGone = true
    this.units -= waiter.cost
    this.waiters.remove(waiter)
    if (waiter.signal) this.aborts.remove(waiter.signal, waiter)
    return waiter
  }

  /** Nothing waits for the refund; if it fails, the units are lost. */
  private refund(cost: number, takenAt: Millis): void {
    void (async () => this.gate.refund(cost, takenAt))().catch(() => {})
  }

  /** Sets the timer to the next event: the head may ask again, or has waited too long. */
  private setTimer(): void {
    const { timers } = this.options
    const head = this.waiters.first
    const tryAt = this.askedGroup ? Infinity : (this.nextTry ?? Infinity)
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
    if (this.askedGroup || this.mustWait()) {
      // All calls have the same maxWait, so the first to join is the first to run out of time.
      for (let head = this.waiters.first; head && head.deadline <= now; head = this.waiters.first)
        this.remove(head).reject(waitTooLong(maxWait, maxWait, this.failure))
      // All calls of the request in flight are gone, and its answer may never come.
      if (this.askedGroup?.every(({ isGone }) => isGone)) this.askedGroup = undefined
    }
    this.pump()
  }
}
