// Whether the server drops counts by itself when it is full.
import type { CountDropping } from '../stores/refusal-cache/refusal-cache.ts'
import type { RedisConnection } from './connection.ts'
import type { StoreWarning } from './warnings.ts'

/** As a script, so that it needs nothing more of a client. In a cluster, the key selects the node. */
const INFO_SCRIPT = "return redis.call('INFO', 'memory')"

/** What is known of the server's `maxmemory-policy`. */
export class Eviction implements CountDropping {
  /** Whether the server may drop counts. False until its policy is known. */
  isPossible = false
  /** Whether the server that this connection leads to was queried. */
  isQueried = false
  private readonly connection: RedisConnection
  private readonly name: string
  private readonly warn: (warning: StoreWarning) => void
  private isReported = false

  /** `name` is that of any count. */
  constructor(connection: RedisConnection, name: string, warn: (warning: StoreWarning) => void) {
    this.connection = connection
    this.name = name
    this.warn = warn
    // It may be another server, or the same with other settings.
    connection.onReachable(() => (this.isQueried = false))
  }

  /** Queries the policy of the server. To be called at an answer of the server, once per connection. Never rejects. */
  async query(): Promise<void> {
    this.isQueried = true
    try {
      const text = String(await this.connection.eval(INFO_SCRIPT, [this.name], []))
      const policy = /maxmemory_policy:([\w-]+)/.exec(text)?.[1]
      if (policy === undefined) return
      this.isPossible = policy !== 'noeviction'
      if (this.isPossible) this.report(policy)
    } catch {
      // Not permitted, or unreachable again: nothing is known, as before.
    }
  }

  private report(policy: string): void {
    if (this.isReported) return
    this.isReported = true
    this.warn({
      code: 'server-evicts',
      message: `Redis has maxmemory-policy ${policy}: when it is full it drops counts, and what was taken is free again; use noeviction`,
    })
  }
}
