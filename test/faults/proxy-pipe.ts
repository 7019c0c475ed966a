// One direction of one connection through the fault proxy: bytes in order, with what goes wrong on their way.
import type { Socket } from 'node:net'

/** What happens to the bytes of one direction. Nothing of it by default. */
export interface PipeFaults {
  /** Milliseconds that every byte takes. */
  readonly latency?: number
  /** A share (0 to 1) of the chunks, and what comes after them, waits this many milliseconds longer. */
  readonly stall?: { readonly share: number; readonly delay: number }
  /** Bytes for each second at most. */
  readonly bandwidth?: number
  /** Bytes are written in pieces of this size, 1 ms apart. */
  readonly piece?: number
  /** Bytes wait until this is taken back. */
  readonly hold?: boolean
  /** Bytes vanish without an error. */
  readonly drop?: boolean
}

/** What ends a connection in the middle of what it carries. */
export type Break = 'cut' | 'lose'

interface Piece {
  readonly bytes: Buffer
  readonly came: number
  due: number
}

/** Carries bytes from one socket to another. */
export class ProxyPipe {
  private readonly target: Socket
  private readonly faults: () => PipeFaults
  private readonly random: () => number
  private readonly reset: () => void
  private readonly queue: Piece[] = []
  private timer: NodeJS.Timeout | undefined
  private lastDue = 0
  private breaking: Break | undefined
  private broken = false

  /** `faults` is asked for every chunk; `reset` ends the whole connection. */
  constructor(
    source: Socket,
    target: Socket,
    faults: () => PipeFaults,
    random: () => number,
    reset: () => void,
  ) {
    this.target = target
    this.faults = faults
    this.random = random
    this.reset = reset
    source.on('data', (bytes) => this.carry(bytes))
    source.on('end', () => target.end())
  }

  /** The next chunk is passed on by half ('cut') or not at all ('lose'), and then the connection is reset. */
  breakNext(how: Break): void {
    this.breaking = how
  }

  /** The faults have changed: what waits does so no longer than they say. */
  wake(): void {
    const { latency = 0, bandwidth = Infinity } = this.faults()
    this.lastDue = 0
    for (const piece of this.queue) {
      piece.due =
        Math.max(piece.came + latency, this.lastDue) + (1000 * piece.bytes.length) / bandwidth
      this.lastDue = piece.due
    }
    this.arm()
  }

  /** Forgets what waits. */
  end(): void {
    clearTimeout(this.timer)
    this.queue.length = 0
  }

  private carry(bytes: Buffer): void {
    const { latency = 0, stall, bandwidth = Infinity, piece = bytes.length, drop } = this.faults()
    if (drop === true) return
    if (this.breaking !== undefined) return this.break(this.breaking, bytes)
    const came = performance.now()
    let due = came + latency
    if (stall !== undefined && this.random() < stall.share) due += stall.delay
    for (let start = 0; start < bytes.length; start += piece) {
      const part = bytes.subarray(start, start + piece)
      // Never before what came earlier: a stream has an order.
      due = Math.max(due, this.lastDue) + (1000 * part.length) / bandwidth
      this.queue.push({ bytes: part, came, due })
      this.lastDue = due
      if (piece < bytes.length) due += 1
    }
    this.arm()
  }

  private break(how: Break, bytes: Buffer): void {
    if (this.broken) return
    this.broken = true
    if (how === 'lose') return this.reset()
    // A reset overtakes what was just written: the half gets a moment to arrive.
    this.target.write(bytes.subarray(0, bytes.length >> 1), () => setTimeout(this.reset, 2))
  }

  private arm(): void {
    clearTimeout(this.timer)
    const { hold, drop } = this.faults()
    if (drop === true) this.queue.length = 0
    if (hold === true) return
    const now = performance.now()
    while (this.queue.length > 0 && this.queue[0]!.due <= now) {
      const { bytes } = this.queue.shift()!
      if (!this.target.destroyed) this.target.write(bytes)
    }
    const [next] = this.queue
    if (next !== undefined) this.timer = setTimeout(() => this.arm(), Math.max(1, next.due - now))
  }
}
