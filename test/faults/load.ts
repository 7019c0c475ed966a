// The steady load of a pod: a hot key and keys that are used once, with everything that was answered.
import type { Decision, Limiter } from '../../packages/sluice/src/index.ts'
import { now } from './instant.ts'
import {
  ABORTED,
  ALLOWED,
  DEGRADED,
  FAILED,
  hotKey,
  onceKey,
  type Orders,
  type PodRecord,
} from './orders.ts'
import { recoveryOf } from './recovery.ts'

const TICK = 4
/** Milliseconds by which a timer may be late before the event loop has stood still. */
const NOTICED = 2
/** Requests that are made in one turn of the event loop at most: a server that has missed many reads them one by one. */
const AT_ONCE = 64
/** Milliseconds from the last answer to the end of the process. */
const GRACE = 500
/** Requests that can be recorded; room is made beforehand, so that recording does not show in the heap. */
const MOST = 400_000

/** Asks the limiters at a steady rate, whether they answer or not, and records each request. */
export class Load {
  private readonly orders: Orders
  private readonly limiters: readonly Limiter[]
  private readonly onSpent: () => void
  private readonly at = new Float64Array(MOST)
  private readonly wait = new Float32Array(MOST)
  private readonly key = new Int32Array(MOST)
  private readonly answer = new Uint8Array(MOST)
  /** For each limiter, from when and until when the store has refused it the hot key. */
  private readonly refused: { from: number; until: number }[]
  private againstRefusal = 0
  private readonly causes: Record<string, number> = {}
  private readonly errors = new Set<string>()
  private readonly unhandled: string[] = []
  private count = 0
  private once = 0
  private unanswered = 0
  private isSpent = false
  private isOver = false
  private timer: NodeJS.Timeout | undefined
  private begun = 0
  private hotMade = 0
  private readonly still: number[] = []

  constructor(orders: Orders, limiters: readonly Limiter[], onSpent: () => void) {
    this.orders = orders
    this.limiters = limiters
    this.onSpent = onSpent
    this.refused = limiters.map(() => ({ from: Infinity, until: 0 }))
    process.on('unhandledRejection', (reason) => this.unhandled.push(String(reason)))
    process.on('uncaughtException', (error) => this.unhandled.push(String(error)))
  }

  start(): void {
    this.begun = now()
    let last = this.begun
    this.timer = setInterval(() => {
      const instant = now()
      if (instant - last - TICK > NOTICED) this.still.push(last + TICK, instant)
      last = instant
      this.makeDue((instant - this.begun) / 1000)
    }, TICK)
  }

  /** Whether the store has answered a row of requests that were made since an instant. */
  isSteadySince(instant: number): boolean {
    const { at, wait, answer, key, count } = this
    const made = {
      at: at.subarray(0, count),
      wait: wait.subarray(0, count),
      answer: answer.subarray(0, count),
      key: key.subarray(0, count),
    }
    return recoveryOf(made, instant) !== null
  }

  /** Stops asking, and resolves with the record when everything is answered. */
  async end(): Promise<PodRecord> {
    clearInterval(this.timer)
    this.isOver = true
    // A caller that is never answered waits for ever: that shows as a wait to the end of the run.
    for (let turn = 0; turn < 1000 && this.unanswered > 0; turn++) await pause(10)
    // Answers that came too late are handed back meanwhile.
    await pause(GRACE)
    for (let i = 0; i < this.count; i++) {
      if (this.wait[i]! < 0) this.settle(i, FAILED, 'was never answered')
    }
    return {
      at: this.at.slice(0, this.count),
      wait: this.wait.slice(0, this.count),
      key: this.key.slice(0, this.count),
      answer: this.answer.slice(0, this.count),
      againstRefusal: this.againstRefusal,
      causes: this.causes,
      errors: [...this.errors],
      unhandled: this.unhandled,
      still: Float64Array.from(this.still),
    }
  }

  /** Everything that is due since the start, also what a blocked event loop has missed. */
  private makeDue(seconds: number): void {
    const { hotPerSecond, oncePerSecond, name } = this.orders
    for (let left = AT_ONCE; left > 0; left--) {
      const hotSince = this.hotMade / hotPerSecond
      const onceSince = this.once / oncePerSecond
      if (Math.min(hotSince, onceSince) >= seconds) return
      if (hotSince <= onceSince) {
        this.hotMade += 1
        void this.ask(-1, hotKey)
      } else {
        const number = this.once++
        void this.ask(number, onceKey(name, number))
      }
    }
    setImmediate(() => {
      if (!this.isOver) this.makeDue(seconds)
    })
  }

  private async ask(key: number, text: string): Promise<void> {
    const index = this.count++
    this.at[index] = now()
    this.wait[index] = -1
    this.key[index] = key
    this.unanswered += 1
    const limiter = this.limiters[index % this.limiters.length]!
    const { patience, hotCost } = this.orders
    const signal = patience === undefined ? undefined : AbortSignal.timeout(patience)
    try {
      const decision = await limiter.check(text, key < 0 ? hotCost : 1, signal)
      const { allowed, degraded, cause } = decision
      if (cause !== undefined) this.causes[cause] = (this.causes[cause] ?? 0) + 1
      if (key < 0 && !allowed && !degraded) this.spent()
      if (key < 0)
        this.compare(decision, this.at[index]!, this.refused[index % this.limiters.length]!)
      this.settle(index, (allowed ? ALLOWED : 0) + (degraded ? DEGRADED : 0))
    } catch (error) {
      const isOurs = signal?.aborted === true && error === signal.reason
      if (isOurs) this.settle(index, ABORTED)
      else this.settle(index, FAILED, String(error))
    }
  }

  /** What the store refuses until an instant must not come from the fallback before it. */
  private compare(
    { allowed, degraded, retryAfter }: Decision,
    at: number,
    refused: { from: number; until: number },
  ): void {
    if (degraded) {
      if (allowed && at > refused.from && now() < refused.until) this.againstRefusal += 1
      return
    }
    refused.from = allowed ? Infinity : Math.min(refused.from, now())
    // The last ten milliseconds are left out: waits are told as of the answer, which has been on its way.
    refused.until = now() + (retryAfter ?? Infinity) - 10
  }

  private settle(index: number, answer: number, error?: string): void {
    if (error !== undefined && this.errors.size < 5) this.errors.add(error)
    this.wait[index] = now() - this.at[index]!
    this.answer[index] = answer
    this.unanswered -= 1
  }

  private spent(): void {
    if (!this.isSpent) this.onSpent()
    this.isSpent = true
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, milliseconds))
}
