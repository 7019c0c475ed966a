// When the machine was too busy to answer: by a ping every few milliseconds to each server, beside the load.
import { connect, type Socket } from 'node:net'
import type { Address } from '../servers/resp.ts'
import { now } from './instant.ts'

/** From one instant of the lab's clock to another. */
export type Span = readonly [from: number, to: number]

const EVERY = 10
/** Milliseconds that a ping may take, or a timer be late, on a machine that is not too busy. */
const PROMPT = 30

/** Spans of time in which something stood still. */
export class Stalls {
  readonly spans: Span[]

  constructor(spans: Iterable<Span> = []) {
    this.spans = [...spans]
  }

  /** Adds a span, if it is a stall. */
  add(from: number, to: number): void {
    if (to - from > PROMPT) this.spans.push([from, to])
  }

  /** Whether anything stood still between two instants. */
  overlap(from: number, to: number): boolean {
    return this.spans.some(([begin, end]) => begin <= to && end >= from)
  }
}

/** The stalls among the beginnings and ends that a pod has recorded. */
export function stallsOf(still: Float64Array): Stalls {
  const stalls = new Stalls()
  for (let i = 0; i < still.length; i += 2) stalls.add(still[i]!, still[i + 1]!)
  return stalls
}

/** Pings every server until stopped; a server whose connection ends is left out from then on. */
export function watchStalls(servers: readonly Address[]): { stalls: Stalls; stop: () => void } {
  const stalls = new Stalls()
  const stops = servers.map((server) => ping(server, stalls))
  return {
    stalls,
    stop() {
      for (const stop of stops) stop()
    },
  }
}

function ping({ host, port }: Address, stalls: Stalls): () => void {
  const socket: Socket = connect({ host, port, noDelay: true })
  let sent: number | undefined
  let last = now()
  const timer = setInterval(() => {
    const instant = now()
    stalls.add(last, instant)
    last = instant
    if (sent !== undefined) return
    sent = instant
    socket.write('PING\r\n')
  }, EVERY)
  socket.on('data', () => {
    if (sent !== undefined) stalls.add(sent, now())
    sent = undefined
  })
  socket.on('error', () => {})
  socket.on('close', () => clearInterval(timer))
  return () => socket.destroy()
}
