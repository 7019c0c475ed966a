// The connection of one pod: messages arrive in order, late, or not at all.
import type { Random } from '../redis/random.ts'
import type { Millis } from '../../src/time/clock.ts'
import type { Command, Reply, Server } from './server.ts'
import type { VirtualTime } from './virtual-time.ts'

/** What is wrong with a link. */
export interface Weather {
  /** Milliseconds more, one way. */
  delay: Millis
  /** The share of commands that never arrive. */
  lostCommands: number
  /** The share of replies that never arrive. */
  lostReplies: number
  /** The share of commands that arrive twice. */
  twice: number
}

/** A connection that gives and takes a little time, and breaks. */
export class Link {
  readonly weather: Weather = { delay: 0, lostCommands: 0, lostReplies: 0, twice: 0 }
  isUp = true
  /** Takes that were charged and whose replies got lost, by key. */
  readonly unheard = new Map<string, number>()
  /** Units that commands which arrived twice took or gave a second time, by key. */
  readonly twice = new Map<string, number>()
  private readonly world: VirtualTime
  private readonly server: Server
  private readonly random: Random
  /** Called when the pod may hear of something: at once, or when it goes on. */
  private readonly deliver: (run: () => void) => void
  private lastThere: Millis = 0
  private lastBack: Millis = 0
  private readonly waiting = new Set<(error: Error) => void>()

  constructor(
    world: VirtualTime,
    server: Server,
    random: Random,
    deliver: (run: () => void) => void,
  ) {
    this.world = world
    this.server = server
    this.random = random
    this.deliver = deliver
  }

  send(command: Command): Promise<Reply> {
    if (!this.isUp || !this.server.isUp) return Promise.reject(new Error('connect ECONNREFUSED'))
    return new Promise((resolve, reject) => {
      this.waiting.add(reject)
      const done = (reply: Reply | Error): void => {
        if (!this.waiting.has(reject)) return this.forget(command, reply)
        if (this.random.chance(this.weather.lostReplies)) return this.forget(command, reply)
        this.lastBack = Math.max(this.lastBack, this.world.now + this.latency())
        this.world.at(this.lastBack, () => {
          if (!this.waiting.delete(reject)) return this.forget(command, reply)
          this.deliver(() => (reply instanceof Error ? reject(reply) : resolve(reply)))
        })
      }
      if (this.random.chance(this.weather.lostCommands)) return
      this.lastThere = Math.max(this.lastThere, this.world.now + this.latency())
      const isTwice = this.random.chance(this.weather.twice)
      this.world.at(this.lastThere, () => {
        // What a broken connection had not delivered is gone with it.
        if (!this.waiting.has(reject)) return
        this.server.receive(command, done)
        if (!isTwice) return
        this.server.receive(command, () => {})
        for (const { key, cost } of command.checks) {
          add(this.twice, key, cost)
          if (command.operation === 'refund') this.server.strays += cost
        }
      })
    })
  }

  /** Breaks the connection: everybody who waits hears of it. */
  cut(): void {
    this.isUp = false
    const all = [...this.waiting]
    this.waiting.clear()
    this.deliver(() => {
      for (const reject of all) reject(new Error('Connection is closed.'))
    })
  }

  private latency(): Millis {
    return this.random.whole(0, 1) + this.weather.delay
  }

  private forget({ operation, checks }: Command, reply: Reply | Error): void {
    if (operation !== 'take' || reply instanceof Error || reply.verdicts === null) return
    for (const [i, { key, cost }] of checks.entries()) {
      if (reply.verdicts[i]!.allowed) add(this.unheard, key, cost)
    }
  }
}

function add(units: Map<string, number>, key: string, cost: number): void {
  units.set(key, (units.get(key) ?? 0) + cost)
}
