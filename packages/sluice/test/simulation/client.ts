// A Redis client as the store sees one: node-redis in shape, with connections that it renews by itself when they end.
import { NODE_REDIS_CONNECT_TIMEOUT } from '../../src/redis/client-options.ts'
import type { Millis } from '../../src/time/clock.ts'
import { slotOf } from '../../src/redis/slot.ts'
import type { Timers } from '../../src/time/timers.ts'
import { Link, type Network } from './link.ts'
import type { Command, Server } from './server.ts'

const SLOTS = 16_384

export interface SimulatedClientOptions {
  readonly network: Network
  /** One server, or the nodes of a cluster. */
  readonly servers: readonly Server[]
  readonly timers: Timers
  readonly reconnectDelay: (attempt: number) => Millis
}

/** The node that keeps a name. */
function nodeOf(servers: readonly Server[], name: string): Server {
  if (servers.length === 1) return servers[0]!
  return servers[Math.floor((slotOf(name) * servers.length) / SLOTS)]!
}

/** A client; nothing is sent before `connect`, nothing is queued, and nothing is sent twice. */
export class SimulatedClient {
  isOpen = false
  isReady = false
  readonly options = { socket: {}, disableOfflineQueue: true }
  private readonly parts: SimulatedClientOptions
  /** A second connection of the store: it is not renewed. */
  private readonly isSpare: boolean
  private readonly links = new Map<Server, Link>()
  private readonly listeners = new Map<string, (() => void)[]>()

  constructor(parts: SimulatedClientOptions, isSpare = false) {
    this.parts = parts
    this.isSpare = isSpare
  }

  on(event: string, run: () => void): void {
    this.listeners.set(event, [...(this.listeners.get(event) ?? []), run])
  }

  /** Connects to every server; resolves when all of them were reached once. */
  connect(): Promise<void> {
    this.isOpen = true
    return new Promise((resolve, reject) => {
      const waiting = new Set(this.parts.servers)
      for (const server of this.parts.servers)
        this.attempt(server, 1, (error) => {
          if (error !== undefined) return reject(error)
          waiting.delete(server)
          if (waiting.size === 0) resolve()
        })
    })
  }

  evalSha(script: string, sent: { keys: string[]; arguments: string[] }): Promise<unknown> {
    return this.send({ script, isHash: true, keys: sent.keys, args: sent.arguments })
  }

  eval(script: string, sent: { keys: string[]; arguments: string[] }): Promise<unknown> {
    return this.send({ script, isHash: false, keys: sent.keys, args: sent.arguments })
  }

  duplicate(): SimulatedClient {
    return new SimulatedClient(this.parts, true)
  }

  destroy(): void {
    this.isOpen = false
    this.isReady = false
    for (const link of this.links.values()) link.close('The client is closed')
    this.links.clear()
  }

  private send(command: Command): Promise<unknown> {
    const link = this.links.get(nodeOf(this.parts.servers, command.keys[0]!))
    if (link === undefined) return Promise.reject(new Error('The client is offline'))
    return link.send(command)
  }

  private attempt(server: Server, number: number, done: (error?: Error) => void): void {
    const { network, timers } = this.parts
    const { world, weather } = network
    let isOver = false
    const end = (run: () => void): void => {
      if (isOver) return
      isOver = true
      timers.stop(timer)
      network.deliver(run)
    }
    const fail = (): void => end(() => this.failed(server, number, done))
    // As `nodeRedisOptions` has it: given up after a while, and then soon tried again.
    const giveUp = (): void => end(() => this.failed(server, 1, done))
    const timer = timers.start(giveUp, NODE_REDIS_CONNECT_TIMEOUT)
    // An attempt that began while nothing arrives is lost.
    if (weather.isDark) return
    world.at(world.now + network.latency(), () => {
      if (weather.isDark) return
      // The system accepts for a server that is stopped; the first reply comes when it goes on.
      const accepted = (): void => {
        world.at(world.now + network.latency(), () => {
          if (!weather.isDark) end(() => this.connected(server, done))
        })
      }
      server.accept(accepted, fail)
    })
  }

  private connected(server: Server, done: (error?: Error) => void): void {
    if (!this.isOpen) return
    if (!server.isUp) return this.failed(server, 1, done)
    const { network, servers } = this.parts
    const link = new Link(network, server, () => {
      if (this.links.get(server) === link) this.lost(server)
    })
    this.links.set(server, link)
    this.isReady ||= this.links.size === servers.length
    done()
    if (this.isReady) this.emit('ready')
  }

  private lost(server: Server): void {
    this.links.delete(server)
    // A cluster is there as long as one of its nodes is.
    if (this.links.size === 0) this.isReady = false
    if (!this.isOpen) return
    if (this.isSpare) return this.destroy()
    this.again(server, 1, () => {})
  }

  private failed(server: Server, number: number, done: (error?: Error) => void): void {
    if (!this.isOpen) return
    if (!this.isSpare) return this.again(server, number, done)
    this.destroy()
    done(new Error('connect ECONNREFUSED'))
  }

  private again(server: Server, number: number, done: (error?: Error) => void): void {
    this.emit('reconnecting')
    const { timers, reconnectDelay } = this.parts
    timers.start(() => {
      if (this.isOpen) this.attempt(server, number + 1, done)
    }, reconnectDelay(number))
  }

  private emit(event: string): void {
    for (const run of this.listeners.get(event) ?? []) run()
  }
}
