// Whether the server drops counts by itself when it is full.
import type { RedisConnection } from './connection.ts'
import type { StoreWarning } from './warnings.ts'

/** A script may ask, and needs nothing of a client but what it has for the others. A key leads it to a node. */
const ASK = "return redis.call('INFO', 'memory')"

/** What is known of the server's `maxmemory-policy`. */
export class Eviction {
  /** Whether the server may drop counts. False until it has said so. */
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

  /** The server answers: ask it, if that has not been done since the client connected. */
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
      // Not allowed to ask, or gone again: nothing is known, as before.
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
