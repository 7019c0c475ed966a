// One connection of a pod to one server: messages arrive in order, late, or not at all, until it is renewed.
import type { Random } from '../redis/random.ts'
import type { Millis } from '../../src/time/clock.ts'
import { readCall } from './wire.ts'
import { hashOf, keyOf, type Command, type Reply, type Server } from './server.ts'
import type { VirtualTime } from './virtual-time.ts'

/** What is wrong with the network of a pod. */
export interface Weather {
  /** Milliseconds more, one way. */
  delay: Millis
  /** The share of commands that never arrive. */
  lostCommands: number
  /** The share of replies that never arrive. */
  lostReplies: number
  /** The share of commands that arrive twice. */
  twice: number
  /** Nothing arrives; connections that stand meanwhile, or are being made, never carry anything again. */
  isDark: boolean
}

/** The network of one pod, and what it has done to the pod's commands. */
export class Network {
  readonly weather: Weather = { delay: 0, lostCommands: 0, lostReplies: 0, twice: 0, isDark: false }
  /** Units that were charged and whose replies got lost, by key. */
  readonly unheard = new Map<string, number>()
  /** Units that commands which arrived twice took or gave a second time, by key. */
  readonly twice = new Map<string, number>()
  readonly links = new Set<Link>()
  readonly world: VirtualTime
  readonly random: Random
  /** Runs what the pod receives: at once, or when it goes on. */
  readonly deliver: (run: () => void) => void

  constructor(world: VirtualTime, random: Random, deliver: (run: () => void) => void) {
    this.world = world
    this.random = random
    this.deliver = deliver
  }

  latency(): Millis {
    return this.random.whole(0, 1) + this.weather.delay
  }

  /** Connections end with a reset: those to one server, or all. */
  cut(server?: Server): void {
    for (const link of this.links)
      if (server === undefined || link.server === server) link.close('Socket closed unexpectedly')
  }

  /** Connections die without a reset. */
  silence(): void {
    for (const link of this.links) link.isDead = true
  }
}

interface Waiting {
  readonly command: Command
  readonly reject: (error: Error) => void
}

/** A connection that stands, until it is closed. */
export class Link {
  readonly server: Server
  /** Carries nothing any more, and does not show it. */
  isDead = false
  private readonly network: Network
  private readonly onClose: () => void
  private lastThere: Millis = 0
  private lastBack: Millis = 0
  private readonly waiting = new Set<Waiting>()

  constructor(network: Network, server: Server, onClose: () => void) {
    this.network = network
    this.server = server
    this.onClose = onClose
    network.links.add(this)
  }

  send(command: Command): Promise<unknown> {
    const { network, server } = this
    const { world, random, weather } = network
    return new Promise((resolve, reject) => {
      const own: Waiting = { command, reject }
      this.waiting.add(own)
      const back = (reply: Reply): void => {
        const isLost = this.isLost() || random.chance(weather.lostReplies)
        if (isLost || !this.waiting.has(own)) return this.unheard(command, reply)
        this.lastBack = Math.max(this.lastBack, world.now + network.latency())
        world.at(this.lastBack, () => {
          if (this.isLost() || !this.waiting.delete(own)) return this.unheard(command, reply)
          network.deliver(() => (reply instanceof Error ? reject(reply) : resolve(reply)))
        })
      }
      if (this.isLost() || random.chance(weather.lostCommands)) return
      this.lastThere = Math.max(this.lastThere, world.now + network.latency())
      const isTwice = random.chance(weather.twice)
      world.at(this.lastThere, () => {
        // What a broken connection had not delivered is gone with it.
        if (this.isLost() || !this.waiting.has(own)) return
        server.receive(command, back)
        if (isTwice) server.receive(command, (reply) => this.countTwice(command, reply))
      })
    })
  }

  /** Ends it; the pod learns of it when it can. */
  close(reason: string): void {
    if (!this.network.links.delete(this)) return
    const all = [...this.waiting]
    this.waiting.clear()
    this.network.deliver(() => {
      for (const { reject } of all) reject(new Error(reason))
      this.onClose()
    })
  }

  private isLost(): boolean {
    if (this.network.weather.isDark) this.isDead = true
    return this.isDead
  }

  private unheard(command: Command, reply: Reply): void {
    for (const [key, cost] of takenBy(command, reply)) add(this.network.unheard, key, cost)
  }

  private countTwice(command: Command, reply: Reply): void {
    for (const [key, cost] of takenBy(command, reply)) add(this.network.twice, key, cost)
    for (const { operation, checks } of callOf(command))
      if (operation === 'refund')
        for (const { name, cost, once } of checks)
          if (once === undefined) {
            add(this.network.twice, keyOf(name), cost)
            this.server.strays += cost
          }
  }
}

function callOf({ script, isHash, keys, args }: Command) {
  const hash = isHash ? script : hashOf(script)
  return hash === undefined ? [] : readCall(hash, keys, args).requests
}

/** The keys that a call charged at most, with the units: all of its takes, if it acted. */
function takenBy(command: Command, reply: Reply): [key: string, cost: number][] {
  if (!Array.isArray(reply) || Number(reply[0]) < 0) return []
  return callOf(command)
    .filter(({ operation }) => operation === 'take')
    .flatMap(({ checks }) => checks.map(({ name, cost }): [string, number] => [keyOf(name), cost]))
}

function add(units: Map<string, number>, key: string, cost: number): void {
  units.set(key, (units.get(key) ?? 0) + cost)
}
