// Which part of a connection has stopped answering in time.
import type { Millis } from '../time/clock.ts'

/** The calls to one shard that count: those since the last answer that came in time. */
interface Shard {
  /** When the first of them was sent; undefined if none was. */
  since: Millis | undefined
  /** Calls without an answer, earlier ones too. */
  open: number
  /** A key of the shard, to reach it again. */
  key: string
}

/** What became of a call. */
export type CallEnd =
  /** The server answered within the deadline, with an error or not. */
  | 'in-time'
  /** The server answered later than that. */
  | 'late'
  /** The client has given the call up, which says nothing about the connection. */
  | 'unanswered'
  /** The client knows that it has no connection, and opens a new one itself. */
  | 'disconnected'

/** Watches the calls on one connection, shard by shard: the nodes of a cluster fail one by one. */
export class Silence {
  private readonly shards = new Map<number, Shard>()

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

  /** A call has ended. */
  ended(shard: number, end: CallEnd): void {
    const calls = this.shards.get(shard)!
    calls.open -= 1
    // One late answer shows that the server works, unless others are still missing.
    const isHeard = end === 'in-time' || end === 'disconnected'
    if (isHeard || (end === 'late' && calls.open <= 0)) calls.since = undefined
  }

  /** The shards that have not answered in time for as long as `patience` allows each. */
  silent(now: Millis, patience: (shard: number) => Millis): readonly number[] {
    const all = [...this.shards]
    return all
      .filter(([shard, { since }]) => since !== undefined && now - since >= patience(shard))
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
