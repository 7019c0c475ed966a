// Sends the same second to every viewer as server-sent events: it is written once, whatever their number.
import type { ServerResponse } from 'node:http'
import type { Millis } from 'sluice'
import type { Sampler } from './history.ts'

const INTERVAL: Millis = 1000
/** Without a viewer, the keys are sampled every so many intervals, so that the next viewer sees their history. */
const UNWATCHED_INTERVALS = 10
/** Viewers at once. */
const MAX_VIEWERS = 200
/** Bytes that may wait for a viewer that does not read; beyond them its stream ends, and the page connects again. */
const MAX_WAITING = 1_000_000

/** Callbacks that run every second. */
export interface EverySecond {
  /** Whether or not there are viewers. */
  look(now: Millis): void
  /** What viewers are sent besides the numbers. It may take longer than a second. */
  readMore(now: Millis): Promise<object>
}

/** The streams of all viewers. */
export class LiveFeed {
  private readonly sampler: Sampler
  private readonly every: EverySecond
  private more: object = { top: [], processes: 1, detail: {} }
  private readonly viewers = new Map<ServerResponse, () => boolean>()
  private readonly timer: NodeJS.Timeout
  private isSampling = false
  private unseen = 0
  /** The first event of a new viewer, until the next second. All viewers share its bytes, read or not. */
  private beginning: Buffer | undefined

  constructor(sampler: Sampler, every: EverySecond) {
    this.sampler = sampler
    this.every = every
    this.timer = setInterval(() => void this.tick(), INTERVAL).unref()
    // The first reading is what the next one is compared with.
    void this.tick()
  }

  /** Begins a stream that ends when the viewer may see it no longer; false when there are too many. */
  add(response: ServerResponse, mayView: () => boolean): boolean {
    if (this.viewers.size >= MAX_VIEWERS) return false
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    this.beginning ??= eventBytes('history', { ...this.sampler.history, ...this.more })
    response.write(this.beginning)
    this.viewers.set(response, mayView)
    response.once('close', () => this.viewers.delete(response))
    return true
  }

  /**
   * Samples once and sends it; a sample that takes longer than a second skips the next. One that fails is left out: a busy
   * primary may not answer in time, and the next second shows what happened meanwhile.
   */
  async tick(now: Millis = Date.now()): Promise<void> {
    if (this.isSampling) return
    this.isSampling = true
    try {
      this.every.look(now)
      const names = this.sampler.history.names.length
      const tick = await this.sampler.sample(now)
      this.beginning = undefined
      if (tick === undefined) return
      if (this.viewers.size === 0 && this.unseen++ % UNWATCHED_INTERVALS > 0) return
      this.more = await this.every.readMore(now)
      this.beginning = undefined
      const { history } = this.sampler
      const bytes = eventBytes('tick', {
        tick,
        ...(history.names.length === names ? {} : { names: history.names }),
        ...this.more,
      })
      for (const [viewer, mayView] of this.viewers) {
        if (!mayView()) viewer.end(eventBytes('ended', {}))
        else if (viewer.writableLength > MAX_WAITING) viewer.destroy()
        else viewer.write(bytes)
      }
    } catch {
      this.beginning = undefined
    } finally {
      this.isSampling = false
    }
  }

  close(): void {
    clearInterval(this.timer)
    for (const viewer of this.viewers.keys()) viewer.end()
    this.viewers.clear()
  }
}

function eventBytes(event: string, data: object): Buffer {
  return Buffer.from(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
}
