// Keeps what one candidate did to each client: refusals, and stretches in which all requests were refused.
import type { Millis } from 'sluice'
import { UNTRACKED } from './clients.ts'
import { grown } from './columns.ts'
import type { Decider } from './decider.ts'

/** A decider and its effect on the clients. */
export class Candidate<T> {
  readonly decider: Decider<T>
  refused = 0
  clientsHit = 0
  /** The client with the longest stretch. */
  longestClient = UNTRACKED
  longestFrom: Millis = 0
  longest: Millis = 0
  private refusals = new Uint32Array(1024)
  /** Since when all requests of a client are refused; 0 when its last one was allowed. */
  private since = new Float64Array(1024)
  private stretches = new Float64Array(1024)

  constructor(decider: Decider<T>) {
    this.decider = decider
  }

  /** Decides about one request; true when it is refused. */
  refuses(at: Millis, client: number, key: string, item: T | undefined): boolean {
    const isAllowed = this.decider.allows(key, item)
    if (isAllowed) {
      if (client < this.since.length && client >= 0) this.since[client] = 0
      return false
    }
    this.refused++
    if (client >= 0) this.count(at, client)
    return true
  }

  refusedOf(client: number): number {
    return this.refusals[client] ?? 0
  }

  longestOf(client: number): Millis {
    return this.stretches[client] ?? 0
  }

  private count(at: Millis, client: number): void {
    if (client >= this.refusals.length) {
      this.refusals = grown(this.refusals, client + 1)
      this.since = grown(this.since, client + 1)
      this.stretches = grown(this.stretches, client + 1)
    }
    if (this.refusals[client]!++ === 0) this.clientsHit++
    if (this.since[client] === 0) this.since[client] = at
    const since = this.since[client] as Millis
    const duration = at - since
    if (duration > (this.stretches[client] as Millis)) this.stretches[client] = duration
    if (duration > this.longest) {
      this.longest = duration
      this.longestClient = client
      this.longestFrom = since
    }
  }
}
