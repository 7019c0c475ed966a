// The last requests that policies decided, in a ring of fixed size: a changed policy can be tried on them.
import type { Attributes, Decision, DecisionRequest, Millis } from 'sluice'
import { ownText } from './keys.ts'

/** Requests that are kept. */
const MAX_REQUESTS = 10_000
/** Requests of one tick that are kept. A busier service shows the beginning of each tick, without gaps in it. */
const MAX_PER_TICK = 100
/** Longer values are kept as their beginning: they make keys of their own either way. */
const MAX_VALUE = 128
/** Characters of one request, names and values together: a caller may send thousands of attributes. */
const MAX_CHARACTERS = 1024

/** A request that was decided. */
export interface RecentRequest {
  readonly at: Millis
  readonly policy: string
  readonly attributes: Attributes
  readonly cost: number
  readonly allowed: boolean
}

/** Keeps the newest requests; the oldest makes room. */
export class RecentTraffic {
  private readonly ring: RecentRequest[] = []
  private next = 0
  private tick = 0
  private inTick = 0
  private readonly clock: () => Millis

  constructor(clock: () => Millis = Date.now) {
    this.clock = clock
  }

  /** Notes a decision of a policy; `tick` changes four times a second. */
  note(policy: string, decision: Decision, request: DecisionRequest, tick: number): void {
    if (tick !== this.tick) {
      this.tick = tick
      this.inTick = 0
    }
    if (this.inTick < MAX_PER_TICK) this.keep(policy, decision, request)
  }

  private keep(policy: string, decision: Decision, request: DecisionRequest): void {
    const [first] = request.attributes
    const { checks } = request
    if (first === undefined || decision.reason === 'blocked') return
    this.inTick += 1
    let cost = Infinity
    for (const check of checks) if (check.cost < cost) cost = check.cost
    const kept = {
      at: this.clock(),
      policy,
      attributes: copyOf(first),
      cost: cost === Infinity ? 1 : cost,
      allowed: decision.allowed,
    }
    if (this.ring.length < MAX_REQUESTS) this.ring.push(kept)
    else this.ring[this.next] = kept
    this.next = (this.next + 1) % MAX_REQUESTS
  }

  /** All that is kept, the oldest first. */
  list(): readonly RecentRequest[] {
    return this.ring.length < MAX_REQUESTS
      ? [...this.ring]
      : [...this.ring.slice(this.next), ...this.ring.slice(0, this.next)]
  }
}

/**
 * A copy whose strings keep nothing else alive: a part of a header would keep the whole header. Attributes beyond
 * {@link MAX_CHARACTERS} are left out.
 */
function copyOf(attributes: Attributes): Attributes {
  const copy: Record<string, Attributes[string]> = {}
  let room = MAX_CHARACTERS
  for (const name in attributes) {
    const value = attributes[name]
    const text = typeof value === 'string' ? value.slice(0, MAX_VALUE) : undefined
    // Also an empty one takes some room.
    room -= name.length + (text?.length ?? 8) + 8
    if (room < 0) break
    copy[name] = text === undefined ? value : ownText(text)
  }
  return copy
}
