// Streams that wait for their client: for its message, or until it reads the answer. Late ones are cut off.
import { constants, type ServerHttp2Stream } from 'node:http2'
import type { Millis } from 'sluice'

/** Streams in the order in which they began to wait. One sweep serves all of them. */
export class StreamDeadlines {
  private readonly since = new Map<ServerHttp2Stream, Millis>()
  private readonly timeout: Millis

  constructor(timeout: Millis) {
    this.timeout = timeout
  }

  /** Starts the stream's time, or starts it anew. */
  start(stream: ServerHttp2Stream, now: Millis): void {
    // A map keeps the place of a key that is set again; the order must follow the time.
    this.since.delete(stream)
    this.since.set(stream, now)
  }

  stop(stream: ServerHttp2Stream): void {
    this.since.delete(stream)
  }

  /** Cancels the streams whose time is over. */
  sweep(now: Millis): void {
    for (const [stream, since] of this.since) {
      if (now - since < this.timeout) return
      this.since.delete(stream)
      stream.close(constants.NGHTTP2_CANCEL)
    }
  }
}
