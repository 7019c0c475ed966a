// Streams that wait for their client: for its message, or until it reads the answer. Late ones are cut off.
import { constants, type ServerHttp2Stream } from 'node:http2'
import type { Millis } from 'sluice'

/** A stream and its place among those that wait. */
export class WaitingStream {
  readonly stream: ServerHttp2Stream
  since: Millis = 0
  isWaiting = false
  before: WaitingStream | null = null
  after: WaitingStream | null = null

  constructor(stream: ServerHttp2Stream) {
    this.stream = stream
  }
}

/** Streams in the order in which they began to wait, a line made of its members. One sweep serves all of them. */
export class StreamDeadlines {
  private first: WaitingStream | null = null
  private last: WaitingStream | null = null
  private readonly timeout: Millis

  constructor(timeout: Millis) {
    this.timeout = timeout
  }

  /** Starts the stream's time, or starts it anew. */
  start(waiting: WaitingStream, now: Millis): void {
    this.stop(waiting)
    const { last } = this
    waiting.since = now
    waiting.isWaiting = true
    waiting.before = last
    if (last === null) this.first = waiting
    else last.after = waiting
    this.last = waiting
  }

  stop(waiting: WaitingStream): void {
    if (!waiting.isWaiting) return
    const { before, after } = waiting
    if (before === null) this.first = after
    else before.after = after
    if (after === null) this.last = before
    else after.before = before
    waiting.isWaiting = false
    waiting.before = null
    waiting.after = null
  }

  /** Cancels the streams whose time is over. */
  sweep(now: Millis): void {
    for (let late = this.first; late !== null; late = this.first) {
      if (now - late.since < this.timeout) return
      this.stop(late)
      late.stream.close(constants.NGHTTP2_CANCEL)
    }
  }
}
