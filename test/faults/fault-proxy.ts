// A TCP proxy on loopback that does to connections what networks do: delays, stalls, loses, cuts, resets, refuses.
import { connect, createServer, type Server, type Socket } from 'node:net'
import { freePort } from '../servers/ports.ts'
import type { Address } from '../servers/resp.ts'
import { now } from './instant.ts'
import { type Break, type PipeFaults, ProxyPipe } from './proxy-pipe.ts'

/** Faults of each direction. */
export interface ProxyFaults {
  readonly toServer?: PipeFaults
  readonly toClient?: PipeFaults
}

export interface FaultProxy extends Address {
  /** Instants (of {@link now}) at which connections were accepted. */
  readonly accepted: readonly number[]
  /** Connections that are open. */
  readonly open: number
  /**
   * Replaces all faults, for open connections too. `{}` heals. What waited goes on by the new faults, or, `asSent`, still
   * takes as long as it would have taken: packets on their way do not become faster.
   */
  set(faults: ProxyFaults, waiting?: 'asSent'): void
  /** Resets every open connection. */
  reset(): void
  /** The next bytes of every open connection to its client are lost or cut, and the connection is reset. Gives how many those are. */
  breakReplies(how: Break): number
  /** The open connections go silent for good, both ways; new ones work. */
  forsake(): void
  /** While packets are lost, the open connections and new ones go silent for good; those that come later work. */
  losePackets(isLost: boolean): void
  /** The port is closed: open connections are reset, new ones refused. */
  refuse(): Promise<void>
  /** Listens again, at the same port. */
  accept(): Promise<void>
  stop(): Promise<void>
}

interface Link {
  readonly client: Socket
  readonly server: Socket
  readonly pipes: readonly [toServer: ProxyPipe, toClient: ProxyPipe]
  forsaken: boolean
}

/** Starts a proxy in front of a server, without faults. `random` decides which chunks stall. */
export async function startProxy(
  target: Address,
  random: () => number = Math.random,
): Promise<FaultProxy> {
  const host = '127.0.0.1'
  const port = await freePort()
  const links = new Set<Link>()
  const accepted: number[] = []
  let faults: ProxyFaults = {}
  let isLost = false
  let listener: Server | undefined

  function link(client: Socket): void {
    accepted.push(now())
    const server = connect({ host: target.host, port: target.port, noDelay: true })
    client.setNoDelay(true)
    const reset = (): void => end(made, true)
    const of = (direction: keyof ProxyFaults) => (): PipeFaults =>
      made.forsaken ? { drop: true } : (faults[direction] ?? {})
    const made: Link = {
      client,
      server,
      pipes: [
        new ProxyPipe(client, server, of('toServer'), random, reset),
        new ProxyPipe(server, client, of('toClient'), random, reset),
      ],
      forsaken: isLost,
    }
    links.add(made)
    for (const socket of [client, server]) {
      socket.on('error', () => {})
      socket.on('close', () => end(made, socket.errored !== null))
    }
  }

  /** What the pipes still hold is lost, as in a network that lost both ends. */
  function end(gone: Link, hard: boolean): void {
    if (!links.delete(gone)) return
    for (const pipe of gone.pipes) pipe.end()
    for (const socket of [gone.client, gone.server]) {
      if (hard) socket.resetAndDestroy()
      else socket.destroy()
    }
  }

  const forsake = (): void => {
    for (const one of links) one.forsaken = true
  }

  const reset = (): void => {
    for (const one of links) end(one, true)
  }

  async function accept(): Promise<void> {
    if (listener !== undefined) return
    const started = createServer(link)
    listener = started
    await new Promise<void>((resolve, reject) => {
      started.once('error', reject)
      started.listen({ host, port }, resolve)
    })
  }

  async function refuse(): Promise<void> {
    const stopped = listener
    listener = undefined
    const closed = new Promise<void>((resolve) => {
      if (stopped === undefined) resolve()
      else stopped.close(() => resolve())
    })
    reset()
    await closed
  }

  await accept()
  return {
    host,
    port,
    accepted,
    get open() {
      return links.size
    },
    set(next, waiting) {
      faults = next
      if (waiting === 'asSent') return
      for (const { pipes } of links) for (const pipe of pipes) pipe.wake()
    },
    reset,
    breakReplies(how) {
      for (const { pipes } of links) pipes[1].breakNext(how)
      return links.size
    },
    forsake,
    losePackets(next) {
      isLost = next
      if (isLost) forsake()
    },
    refuse,
    accept,
    stop: refuse,
  }
}
