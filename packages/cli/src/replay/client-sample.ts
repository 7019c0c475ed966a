// Keeps the request times of a sample of clients, so that a curve over many limits can be computed at the end.
import type { Millis } from 'sluice'
import { grown } from './columns.ts'

/** Request times that are kept at most, of all clients and of one. */
const MAX_TIMES = 200_000
const MAX_TIMES_OF_CLIENT = 30_000

/** The times of one client, in their order. */
export interface Track {
  readonly times: Float64Array
  /** All its requests, also those beyond the times that are kept. */
  readonly requests: number
}

/** All clients while they fit; then every second, every fourth and so on, chosen by a hash of their number. */
export class ClientSample {
  /** One in so many clients is in the sample. */
  every = 1
  private length = 0
  private times = new Float64Array(1024)
  private clients = new Int32Array(1024)
  /** Times that are kept of each client. */
  private kept = new Uint32Array(1024)
  private readonly most: number

  constructor(most: number = MAX_TIMES) {
    this.most = most
  }

  add(at: Millis, client: number): void {
    if (!this.hasTrackOf(client)) return
    this.kept = grown(this.kept, client + 1)
    if (this.kept[client]! >= MAX_TIMES_OF_CLIENT) return
    this.kept[client]!++
    this.times = grown(this.times, this.length + 1)
    this.clients = grown(this.clients, this.length + 1)
    this.times[this.length] = at
    this.clients[this.length++] = client
    while (this.length > this.most && this.every < MAX_EVERY) this.halve()
  }

  /** The sampled clients; `requestsOf` gives all requests of a client. */
  tracks(requestsOf: (client: number) => number): readonly Track[] {
    const tracks = new Map<number, { times: Float64Array; length: number }>()
    for (let i = 0; i < this.length; i++) {
      const client = this.clients[i] as number
      let track = tracks.get(client)
      if (track === undefined)
        tracks.set(client, (track = { times: new Float64Array(this.kept[client]!), length: 0 }))
      track.times[track.length++] = this.times[i] as number
    }
    return [...tracks].map(([client, { times }]) => ({ times, requests: requestsOf(client) }))
  }

  private hasTrackOf(client: number): boolean {
    return (spread(client) & (this.every - 1)) === 0
  }

  private halve(): void {
    this.every *= 2
    let length = 0
    for (let i = 0; i < this.length; i++) {
      const client = this.clients[i] as number
      if (!this.hasTrackOf(client)) continue
      this.times[length] = this.times[i] as number
      this.clients[length++] = client
    }
    this.length = length
  }
}

/** Enough halvings for any log; one client alone keeps fewer times than fit. */
const MAX_EVERY = 1 << 20

/** Consecutive numbers, far apart. */
function spread(client: number): number {
  let hash = Math.imul(client + 1, 0x9e3779b1)
  hash ^= hash >>> 16
  return Math.imul(hash, 0x85ebca6b) >>> 8
}
