// Whether the server drops counts by itself when it is full.
import type { RedisConnection } from './connection.ts'
import type { StoreWarning } from './warnings.ts'

/** As a script, so that it needs nothing more of a client. In a cluster, the key selects the node. */
const ASK = "return redis.call('INFO', 'memory')"

/** What is known of the server's `maxmemory-policy`. */
export class Eviction {
  /** Whether the server may drop counts. False until its policy is known. */
  isPossible = false
  private readonly connection: RedisConnection
  private readonly name: string
  private readonly warn: (warning: StoreWarning) => void
  private isAsked = false
  private isTold = false

  /** `name` is that of any count. */
  constructor(connection: RedisConnection, name: string, warn: (warning: StoreWarning) => void) {
    this.connection = connection
    this.name = name
    this.warn = warn
    // It may be another server, or the same with other settings.
    connection.onReachable(() => (this.isAsked = false))
  }

  /** Called with each answer of the server: asks for its policy once per connection. */
  readonly look = (): void => {
    if (this.isAsked) return
    this.isAsked = true
    void this.ask()
  }

  private async ask(): Promise<void> {
    try {
      const text = String(await this.connection.eval(ASK, [this.name], []))
      const policy = /maxmemory_policy:([\w-]+)/.exec(text)?.[1]
      if (policy === undefined) return
      this.isPossible = policy !== 'noeviction'
      if (this.isPossible) this.tell(policy)
    } catch {
      // Not permitted, or unreachable again: nothing is known, as before.
    }
  }

  private tell(policy: string): void {
    if (this.isTold) return
    this.isTold = true
    this.warn({
      code: 'server-evicts',
      message: `Redis has maxmemory-policy ${policy}: when it is full it drops counts, and what was taken is free again; use noeviction`,
    })
  }
}
