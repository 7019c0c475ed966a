// Calls whose message has not arrived yet: callers that are too slow are cut off, by one timer for all of them.
import { constants, type ServerHttp2Stream } from 'node:http2'
import type { Millis } from 'sluice'

/** How often it is looked who is too late. */
const LOOK = 1000

/** Streams in the order of their arrival. */
export class WaitingStreams {
  private readonly arrivals = new Map<ServerHttp2Stream, Millis>()
  private readonly patience: Millis
  private readonly timer: NodeJS.Timeout

  constructor(patience: Millis) {
    this.patience = patience
    this.timer = setInterval(() => this.look(), Math.min(LOOK, patience)).unref()
  }

  add(stream: ServerHttp2Stream, now: Millis): void {
    this.arrivals.set(stream, now)
  }

  delete(stream: ServerHttp2Stream): void {
    this.arrivals.delete(stream)
  }

  stop(): void {
    clearInterval(this.timer)
  }

  private look(): void {
    const latest = performance.now() - this.patience
    for (const [stream, arrived] of this.arrivals) {
      if (arrived > latest) return
      this.arrivals.delete(stream)
      stream.close(constants.NGHTTP2_CANCEL)
    }
  }
}
