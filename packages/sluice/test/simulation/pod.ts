// One process of the fleet: the real limiter and the real Redis store, on a simulated client.
import type { Decision } from '../../src/decision/decision.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import type { Limiter } from '../../src/limiter/limiter.ts'
import type { Policy } from '../../src/policy/policy.ts'
import { reconnectDelays } from '../../src/redis/reconnect-delay.ts'
import { redisStore } from '../../src/redis/redis-store.ts'
import type { ResilienceEvent } from '../../src/resilience/events.ts'
import { withResilience } from '../../src/resilience/resilient-store.ts'
import type { AsyncStore } from '../../src/stores/store.ts'
import type { Millis } from '../../src/time/clock.ts'
import type { Timers } from '../../src/time/timers.ts'
import type { Random } from '../redis/random.ts'
import { SimulatedClient } from './client.ts'
import { Network } from './link.ts'
import type { Server } from './server.ts'
import type { VirtualTime } from './virtual-time.ts'

/** How long a pod waits for its store. */
export const TIMEOUT: Millis = 100

/** A process. Stopped, it neither receives nor does anything; what it missed happens when it goes on. */
export class Pod {
  readonly name: string
  readonly network: Network
  readonly events: ResilienceEvent[] = []
  limiter: Limiter
  isStopped = false
  /** How long it has been stopped in all. */
  stoppedFor: Millis = 0
  private stoppedAt: Millis = 0
  private readonly client: SimulatedClient
  private readonly world: VirtualTime
  private readonly store: AsyncStore
  private readonly overdue: (() => void)[] = []
  private readonly unread: (() => void)[] = []

  /** Begins to connect; requests may come before that is done. */
  constructor(
    name: string,
    policy: Policy,
    world: VirtualTime,
    servers: readonly Server[],
    random: Random,
  ) {
    this.name = name
    this.world = world
    this.network = new Network(world, random, (run) => {
      if (this.isStopped) this.unread.push(run)
      else run()
    })
    const { timers } = this
    const { clock } = world
    const reconnectDelay = reconnectDelays(clock, () => random.next())
    this.client = new SimulatedClient({ network: this.network, servers, timers, reconnectDelay })
    this.client.connect().catch(() => {})
    const options = { timeout: TIMEOUT, cluster: servers.length > 1, onWarning: () => {} }
    const store = redisStore(this.client, options, { clock, timers, reconnectDelay })
    // One guard for all policies of the process, as in a service.
    this.store = withResilience(
      store,
      { onEvent: (event) => void this.events.push(event) },
      { clock, timers, random: () => random.next() },
    )
    this.limiter = createLimiter({ policy, store: this.store })
  }

  check(attributes: Readonly<Record<string, string>>): Promise<Decision> {
    return this.limiter.check(attributes)
  }

  /** Loads another policy, as a service does: the new limiter first, then the old one goes. */
  reload(policy: Policy): void {
    this.limiter = createLimiter({ policy, store: this.store })
  }

  stop(): void {
    if (!this.isStopped) this.stoppedAt = this.world.now
    this.isStopped = true
  }

  /** As an event loop does it: timers first, then what is in the socket, then the end of the turn. */
  goOn(): void {
    if (this.isStopped) this.stoppedFor += this.world.now - this.stoppedAt
    this.isStopped = false
    for (const run of [...this.overdue.splice(0), ...this.unread.splice(0)])
      this.world.at(this.world.now, run)
  }

  close(): void {
    void this.limiter.close()
  }

  private readonly timers: Timers = {
    start: (run, after) =>
      this.world.timers.start(() => {
        if (this.isStopped) this.overdue.push(run)
        else run()
      }, after),
    stop: (timer) => this.world.timers.stop(timer),
    afterTurn: (run) => this.world.timers.afterTurn(run),
  }
}
