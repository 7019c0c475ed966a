// Decides about all requests with one algorithm, by the library itself, and keeps what the page draws.
import {
  createLimiter,
  limit as limitOf,
  memoryStore,
  type AlgorithmName,
  type Limit,
} from 'sluice'
import type { Requests, Retrying } from './requests.ts'

/** The steps of time that are drawn. */
export const COLUMNS = 160

/** What one algorithm did. All lists have one number for each step of time. */
export interface Lane {
  readonly algorithm: AlgorithmName
  readonly limit: Limit
  readonly requests: number
  readonly retries: number
  readonly allowed: number
  readonly refused: number
  /** Allowed requests that were held. */
  readonly delayed: number
  /** The longest that one was held, in milliseconds. */
  readonly longestDelay: number
  /** The most requests of one key that were allowed within any span of one window. */
  readonly peak: number
  readonly keysRefused: number
  readonly steps: {
    readonly allowed: Uint32Array
    readonly delayed: Uint32Array
    readonly refused: Uint32Array
    /** What the busiest key has left at the end of the step, as a share of the burst. */
    readonly level: Float32Array
  }
}

/** The numbers that a limit is made from. */
export interface LimitNumbers {
  readonly quota: number
  /** Seconds. */
  readonly window: number
  readonly burst: number
}

/** A request that is still to come. */
interface Pending {
  readonly at: number
  readonly key: number
  readonly attempt: number
}

/** Runs one algorithm over all requests. */
export function laneOf(algorithm: AlgorithmName, numbers: LimitNumbers, requests: Requests): Lane {
  return new Run(limitFor(algorithm, numbers), requests).run()
}

/** The limit of an algorithm; the burst is for those that have one. */
function limitFor(algorithm: AlgorithmName, { quota, window, burst }: LimitNumbers): Limit {
  const fields = { algorithm, quota, window: window * 1000 }
  const hasBurst = ['token-bucket', 'gcra', 'leaky-bucket'].includes(algorithm)
  return limitOf(hasBurst ? { ...fields, burst } : fields)
}

/** The key with the most requests, which the level is shown for. */
export function busiestKey({ key, keys }: Requests): number {
  const counts = new Uint32Array(keys.length)
  for (const one of key) counts[one]! += 1
  let busiest = 0
  for (const [i, count] of counts.entries()) if (count > counts[busiest]!) busiest = i
  return busiest
}

class Run {
  private readonly limit: Limit
  private readonly requests: Requests
  private now: number
  private readonly width: number
  private readonly steps = {
    allowed: new Uint32Array(COLUMNS),
    delayed: new Uint32Array(COLUMNS),
    refused: new Uint32Array(COLUMNS),
    level: new Float32Array(COLUMNS),
  }
  /** The instants of allowed requests of each key, and where those of the last window begin. */
  private readonly recent = new Map<number, { readonly at: number[]; first: number }>()
  private readonly isRefused: Uint8Array
  private readonly store
  private readonly limiter
  private retries = 0
  private peak = 0
  private longestDelay = 0
  private random = 1
  private readonly busiest: number

  constructor(limit: Limit, requests: Requests) {
    this.limit = limit
    this.requests = requests
    this.now = requests.start
    this.width = requests.lasts / COLUMNS
    this.busiest = busiestKey(requests)
    this.isRefused = new Uint8Array(requests.keys.length)
    this.store = memoryStore({ clock: () => this.now })
    this.limiter = createLimiter({ limit, store: this.store })
  }

  run(): Lane {
    const { at, key, lasts } = this.requests
    const again: Pending[] = []
    let next = 0
    let step = 0
    for (;;) {
      const [retry] = again
      const isRetry = retry !== undefined && (next >= at.length || retry.at < at[next]!)
      const time = isRetry ? retry.at : (at[next] ?? Infinity)
      if (time >= lasts) break
      for (; (step + 1) * this.width <= time; step++) this.look(step)
      if (isRetry) {
        pop(again)
        this.retries += 1
        this.decide(retry, again)
      } else {
        this.decide({ at: time, key: key[next]!, attempt: 0 }, again)
        next += 1
      }
    }
    for (; step < COLUMNS; step++) this.look(step)
    this.limiter.close()
    this.store.close()
    return this.lane()
  }

  private decide(pending: Pending, again: Pending[]): void {
    const { steps, requests } = this
    this.now = Math.floor(requests.start + pending.at)
    const step = Math.min(COLUMNS - 1, Math.floor(pending.at / this.width))
    const { allowed, delay, retryAfter } = this.limiter.check(requests.keys[pending.key]!)
    if (allowed) {
      if (delay > 0) {
        steps.delayed[step]! += 1
        this.longestDelay = Math.max(this.longestDelay, delay)
      } else steps.allowed[step]! += 1
      this.seePeak(pending.key, this.now)
      return
    }
    steps.refused[step]! += 1
    this.isRefused[pending.key] = 1
    const { retry } = requests
    if (retry === undefined || pending.attempt >= retry.attempts || retryAfter === null) return
    const wait = this.waitOf(retry, retryAfter, pending.attempt)
    push(again, { ...pending, at: pending.at + wait, attempt: pending.attempt + 1 })
  }

  /** What is left at the end of a step. */
  private look(step: number): void {
    const { requests, limit } = this
    this.now = Math.floor(requests.start + (step + 1) * this.width)
    const key = requests.keys[this.busiest] ?? 'client'
    const { remaining } = this.limiter.peek(key, 1)
    this.steps.level[step] = Math.min(1, remaining / limit.burst)
  }

  private waitOf({ wait, first, jitter }: Retrying, retryAfter: number, attempt: number): number {
    const full =
      wait === 'retry-after' ? retryAfter : wait === 'backoff' ? first * 2 ** attempt : first
    // The same numbers each time, so that a link shows the same picture.
    this.random = (Math.imul(this.random, 1_664_525) + 1_013_904_223) >>> 0
    return Math.max(1, jitter ? full * (this.random / 2 ** 32) : full)
  }

  private seePeak(key: number, now: number): void {
    let times = this.recent.get(key)
    if (times === undefined) this.recent.set(key, (times = { at: [], first: 0 }))
    times.at.push(now)
    const oldest = now - this.limit.window
    while (times.at[times.first]! <= oldest) times.first += 1
    this.peak = Math.max(this.peak, times.at.length - times.first)
  }

  private lane(): Lane {
    const sum = (list: Uint32Array): number => list.reduce((a, b) => a + b, 0)
    const { steps } = this
    const [direct, delayed, refused] = [sum(steps.allowed), sum(steps.delayed), sum(steps.refused)]
    return {
      algorithm: this.limit.algorithm,
      limit: this.limit,
      requests: direct + delayed + refused,
      retries: this.retries,
      allowed: direct + delayed,
      refused,
      delayed,
      longestDelay: this.longestDelay,
      peak: this.peak,
      keysRefused: this.isRefused.reduce((a, b) => a + b, 0),
      steps,
    }
  }
}

function push(heap: Pending[], pending: Pending): void {
  let i = heap.push(pending) - 1
  while (i > 0 && heap[(i - 1) >> 1]!.at > pending.at) {
    heap[i] = heap[(i - 1) >> 1]!
    i = (i - 1) >> 1
  }
  heap[i] = pending
}

function pop(heap: Pending[]): void {
  const last = heap.pop()!
  if (heap.length === 0) return
  let i = 0
  for (;;) {
    let child = 2 * i + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && heap[child + 1]!.at < heap[child]!.at) child += 1
    if (heap[child]!.at >= last.at) break
    heap[i] = heap[child]!
    i = child
  }
  heap[i] = last
}
