// One process of the fleet: the real limiter, resilience included, on a store at the end of a link.
import type { Decision } from '../../src/decision/decision.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import type { Limiter } from '../../src/limiter/limiter.ts'
import type { Verdict } from '../../src/limit/verdict.ts'
import type { Policy } from '../../src/policy/policy.ts'
import type { ResilienceEvent } from '../../src/resilience/events.ts'
import { withResilience } from '../../src/resilience/resilient-store.ts'
import { withRefusalCache } from '../../src/stores/refusal-cache/refusal-cache.ts'
import { ServerTime } from '../../src/redis/server-time.ts'
import type { AsyncStore, Check, RemoteStore } from '../../src/stores/store.ts'
import type { Millis } from '../../src/time/clock.ts'
import type { Timers } from '../../src/time/timers.ts'
import type { Random } from '../redis/random.ts'
import { Link } from './link.ts'
import type { Command, Server } from './server.ts'
import type { VirtualTime } from './virtual-time.ts'

/** How long a pod waits for its store. */
export const TIMEOUT: Millis = 100
/** For how long it answers a refusal from memory. */
const HOLD: Millis = 250

type Listener = Parameters<NonNullable<RemoteStore['watch']>>[0]

/** A process. Stopped, it neither hears nor does anything; what it missed happens when it goes on. */
export class Pod {
  readonly name: string
  readonly link: Link
  readonly events: ResilienceEvent[] = []
  /** Units that it tried to hand back, by key. */
  readonly gifts = new Map<string, number>()
  limiter: Limiter
  isStopped = false
  /** How long it has been stopped in all. */
  stoppedFor: Millis = 0
  private stoppedAt: Millis = 0
  private readonly world: VirtualTime
  private readonly random: Random
  private readonly store: AsyncStore
  private readonly listeners = new Set<Listener>()
  private readonly overdue: (() => void)[] = []
  private readonly unread: (() => void)[] = []

  constructor(name: string, policy: Policy, world: VirtualTime, server: Server, random: Random) {
    this.name = name
    this.world = world
    this.random = random
    this.link = new Link(world, server, random, (run) => {
      if (this.isStopped) this.unread.push(run)
      else run()
    })
    this.store = this.guarded()
    this.limiter = createLimiter({ policy, store: this.store })
  }

  check(key: string): Promise<Decision> {
    return this.limiter.check(key)
  }

  /** Loads another policy, as a service does: the new limiter first, then the old one goes. */
  reload(policy: Policy): void {
    const old = this.limiter
    this.limiter = createLimiter({ policy, store: this.store })
    void old.close()
  }

  /** The client has a connection again. */
  connect(): void {
    this.link.isUp = true
    for (const listener of this.listeners) listener({ type: 'reachable' })
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

  /** One guard for all policies of the process, as in a service. */
  private guarded(): AsyncStore {
    return withResilience(
      this.storeOf(),
      { onEvent: (event) => void this.events.push(event) },
      { clock: this.world.clock, timers: this.timers, random: () => this.random.next() },
    )
  }

  /** A store like the one for Redis: each call carries the last instant at which it may act. */
  private storeOf(): RemoteStore {
    const { clock } = this.world
    const serverTime = new ServerTime()
    const send = async (
      operation: Command['operation'],
      checks: readonly Check[],
      deadline: Millis,
      mayRepeat: boolean,
    ): Promise<readonly Verdict[]> => {
      const sentAt = clock()
      // A gift may act late; a charge may not.
      const latest = operation === 'refund' ? Infinity : serverTime.at(deadline)
      const command = { operation, checks, latest, from: this.name }
      const reply = await this.link.send(command)
      serverTime.learn(reply.now, sentAt, clock())
      if (reply.verdicts !== null) return reply.verdicts
      if (mayRepeat && clock() <= deadline) return send(operation, checks, deadline, false)
      throw new Error('the call came too late')
    }
    const call = (operation: Command['operation']) => (checks: readonly Check[]) =>
      send(operation, checks, clock() + TIMEOUT, true)
    const store: AsyncStore = {
      take: call('take'),
      peek: call('peek'),
      refund: async (checks) => {
        for (const { key, cost } of checks) this.gifts.set(key, (this.gifts.get(key) ?? 0) + cost)
        await call('refund')(checks)
      },
      reset: async (checks) => void (await call('reset')(checks)),
      close: () => {},
    }
    const watch: RemoteStore['watch'] = (listener) => {
      this.listeners.add(listener)
      return () => void this.listeners.delete(listener)
    }
    const options = { hold: HOLD, clock, mayDropCounts: () => false, onAnswer: () => {} }
    return Object.assign(withRefusalCache(store, options), { watch })
  }
}
