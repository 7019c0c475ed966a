// The most requests of each client within any window of one length.
import type { Millis } from 'sluice'
import { grown } from './columns.ts'

/** The most requests that are remembered for one window: 48 MB. */
const MAX_REMEMBERED = 4_000_000

/** Counts requests of the last window; instants must not go back. */
export class Peaks {
  readonly window: Millis
  /** Whether the window held more requests than can be remembered, so that peaks may be higher. */
  isCut = false
  private readonly most: number
  /** A ring of the requests of the last window. */
  private times = new Float64Array(1024)
  private clients = new Int32Array(1024)
  private head = 0
  private length = 0
  private counts = new Uint32Array(1024)
  private peaks = new Uint32Array(1024)

  constructor(window: Millis, most = MAX_REMEMBERED) {
    this.window = window
    this.most = most
  }

  /** Counts one request of a client. */
  add(at: Millis, client: number): void {
    const before = at - this.window
    while (this.length > 0 && (this.times[this.head] as number) <= before) this.drop()
    if (this.length >= this.most) {
      this.isCut = true
      this.drop()
    }
    if (this.length === this.times.length) this.growRing()
    const tail = (this.head + this.length++) & (this.times.length - 1)
    this.times[tail] = at
    this.clients[tail] = client
    if (client >= this.counts.length) {
      this.counts = grown(this.counts, client + 1)
      this.peaks = grown(this.peaks, client + 1)
    }
    const count = ++this.counts[client]!
    if (count > (this.peaks[client] as number)) this.peaks[client] = count
  }

  /** The peak of a client; 0 when it made no request. */
  of(client: number): number {
    return this.peaks[client] ?? 0
  }

  private drop(): void {
    this.counts[this.clients[this.head] as number]!--
    this.head = (this.head + 1) & (this.times.length - 1)
    this.length--
  }

  private growRing(): void {
    const { times, clients, head, length } = this
    const [largerTimes, largerClients] = [new Float64Array(length * 2), new Int32Array(length * 2)]
    for (let i = 0; i < length; i++) {
      const from = (head + i) & (length - 1)
      largerTimes[i] = times[from] as number
      largerClients[i] = clients[from] as number
    }
    this.times = largerTimes
    this.clients = largerClients
    this.head = 0
  }
}
