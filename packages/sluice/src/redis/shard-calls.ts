// Which part of a connection has stopped answering in time, and how long that is waited for.
import type { Millis } from '../time/clock.ts'

/** Deadlines without an answer in time after which a new connection is opened. */
export const PATIENCE = 3
/** The most that this grows to, when new connections do not help either. */
export const MAX_PATIENCE = 48

/** How long each shard may be silent. All connections to the same servers share it. */
export class Patience {
  /** The deadline of a call. */
  timeout: Millis = 0
  /** By shard the deadlines to wait, where they are more than {@link PATIENCE}. */
  readonly grown: Map<number, number> = new Map()

  /** How long a shard may be silent. */
  of(shard: number): Millis {
    return (this.grown.get(shard) ?? PATIENCE) * this.timeout
  }

  /** A new connection takes the place of one on which the shard was silent: the next one waits longer. */
  grow(shard: number): void {
    const deadlines = this.grown.get(shard) ?? PATIENCE
    this.grown.set(shard, Math.min(2 * deadlines, MAX_PATIENCE))
  }
}

/** The calls to one shard that count: those since the last answer that came in time. */
interface Shard {
  /** When the first of them was sent; undefined if none was. */
  since: Millis | undefined
  /** Calls without an answer, earlier ones too. */
  open: number
  /** A key of the shard, to reach it again. */
  key: string
}

/** Watches the calls on one connection, shard by shard: the nodes of a cluster fail one by one. */
export class ShardCalls {
  private readonly shards = new Map<number, Shard>()
  private readonly patience: Patience

  constructor(patience: Patience) {
    this.patience = patience
  }

  /** A call leaves. Returns since when its shard has not answered in time. */
  sent(shard: number, key: string, now: Millis): Millis {
    let calls = this.shards.get(shard)
    if (calls === undefined) {
      calls = { since: undefined, open: 0, key }
      this.shards.set(shard, calls)
    }
    if (calls.since === undefined) {
      calls.since = now
      calls.key = key
    }
    calls.open += 1
    return calls.since
  }

  /** The server answered a call after so long, with an error or not. */
  answered(shard: number, after: Millis): void {
    const calls = this.shards.get(shard)!
    const { timeout, grown } = this.patience
    const isInTime = after <= timeout
    calls.open -= 1
    // One late answer shows that the server works, unless others are still missing.
    if (isInTime || calls.open <= 0) calls.since = undefined
    if (isInTime && grown.size > 0) grown.delete(shard)
  }

  /** The client has given a call up, which says nothing about the connection. */
  unanswered(shard: number): void {
    this.shards.get(shard)!.open -= 1
  }

  /** A call failed because the client has no connection, which it knows: it opens a new one itself. */
  disconnected(shard: number): void {
    const calls = this.shards.get(shard)!
    calls.open -= 1
    calls.since = undefined
  }

  /** The shards that have not answered in time for as long as the patience with each allows. */
  silentShards(now: Millis): readonly number[] {
    const all = [...this.shards]
    return all
      .filter(([shard, { since }]) => since !== undefined && now - since >= this.patience.of(shard))
      .map(([shard]) => shard)
  }

  /** A key of the shard that was silent first. */
  keyOf(shard: number): string {
    return this.shards.get(shard)?.key ?? ''
  }

  /** Forgets what was missing: the connection is a new one. */
  reset(): void {
    for (const calls of this.shards.values()) calls.since = undefined
  }
}
