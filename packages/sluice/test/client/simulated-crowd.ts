// Clients that always have more to send, at a limited server without limit headers. Simulated without promises, so that hours take seconds.
import { LearnedRate } from '../../src/client/learned-rate.ts'
import { learnedGate } from '../../src/client/learned-gate.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import type { LimitInput } from '../../src/limit/limit.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'

export interface CrowdOptions {
  readonly limit: LimitInput
  /** The shortest and the longest one-way latency, in milliseconds. */
  readonly latency: readonly [number, number]
  readonly sendsRetryAfter: boolean
  /** Requests per second at the start. */
  readonly start: number
  readonly random: () => number
}

/** The results of one span of time. */
export interface Harvest {
  readonly admitted: number
  readonly refused: number
  /** Units left at the start minus units left at the end. */
  readonly drawn: number
}

export interface SimulatedCrowd {
  run(millis: number): Harvest
  setLimit(limit: LimitInput): void
  readonly perSecond: number
}

const EPOCH = 1_800_000_000_000

/** The parts of `adaptive` that decide its rate, with everything else simulated. */
export function simulatedCrowd(options: CrowdOptions): SimulatedCrowd {
  const { latency, random, sendsRetryAfter } = options
  let now = EPOCH
  const clock = (): number => now
  const make = (limit: LimitInput) => createLimiter({ limit, store: memoryStore({ clock }) })
  let limiter = make(options.limit)
  const rate = new LearnedRate(options.start / 1000)
  const gate = learnedGate(rate, clock)
  const events = new Events()
  let admitted = 0
  let refused = 0
  let nextTry = now

  const oneWay = (): number => Math.round(latency[0] + random() * (latency[1] - latency[0]))
  const trySending = (): void => {
    for (;;) {
      const answer = gate.take(1) as { allowed: boolean; retryAfter: number }
      if (!answer.allowed) {
        nextTry = now + Math.max(1, answer.retryAfter)
        events.add(nextTry, wake)
        return
      }
      const sentAt = now
      events.add(now + oneWay(), () => arrive(sentAt))
    }
  }
  const wake = (): void => {
    if (now >= nextTry) trySending()
  }
  const arrive = (sentAt: number): void => {
    const decision = limiter.check('client')
    if (decision.allowed) admitted += 1
    else refused += 1
    const wait = decision.retryAfter ?? 0
    const hint = {
      retryAfter: decision.allowed || !sendsRetryAfter ? undefined : Math.ceil(wait / 1000) * 1000,
      shouldRetry: undefined,
      quotas: [],
    }
    const isRefused = !decision.allowed
    events.add(now + decision.delay + oneWay(), () => {
      rate.learn({ sentAt, refused: isRefused, hint }, now, gate.wasBusy())
      if (gate.adjust()) {
        nextTry = now
        trySending()
      }
    })
  }
  events.add(now, wake)
  return {
    run(millis) {
      const [before, failed, left] = [admitted, refused, limiter.peek('client').remaining]
      const end = now + millis
      for (let event = events.next(end); event !== undefined; event = events.next(end)) {
        now = Math.max(now, event.at)
        event.run()
      }
      now = end
      const drawn = left - limiter.peek('client').remaining
      return { admitted: admitted - before, refused: refused - failed, drawn }
    },
    setLimit: (next) => void (limiter = make(next)),
    get perSecond() {
      return rate.perMillis * 1000
    },
  }
}

interface SimulatedEvent {
  readonly at: number
  readonly run: () => void
}

/** A heap of events; the next one is first. */
class Events {
  private readonly heap: SimulatedEvent[] = []

  add(at: number, run: () => void): void {
    const { heap } = this
    let i = heap.length
    const event = { at, run }
    for (; i > 0;) {
      const parent = (i - 1) >> 1
      if (heap[parent]!.at <= at) break
      heap[i] = heap[parent]!
      i = parent
    }
    heap[i] = event
  }

  next(until: number): SimulatedEvent | undefined {
    const { heap } = this
    const first = heap[0]
    if (first === undefined || first.at > until) return undefined
    const last = heap.pop()!
    if (heap.length > 0) {
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
    return first
  }
}
