// Keeps the request times of a sample of clients, so that a curve over many limits can be computed at the end.
import type { Millis } from 'sluice'

/** Request times that are kept at most, of all clients and of one. */
const MAX_TIMES = 200_000
const MAX_TIMES_OF_CLIENT = 30_000

/** The times of one client. */
export interface Track {
  readonly times: Millis[]
  /** All its requests, also those beyond the times that are kept. */
  requests: number
}

/** All clients while they fit; then every second, every fourth and so on, chosen by a hash of their number. */
export class ClientSample {
  readonly tracks = new Map<number, Track>()
  /** One in so many clients is in the sample. */
  every = 1
  private kept = 0
  private readonly most: number

  constructor(most = MAX_TIMES) {
    this.most = most
  }

  add(at: Millis, client: number): void {
    if ((spread(client) & (this.every - 1)) !== 0) return
    let track = this.tracks.get(client)
    if (track === undefined) this.tracks.set(client, (track = { times: [], requests: 0 }))
    track.requests++
    if (track.times.length >= MAX_TIMES_OF_CLIENT) return
    track.times.push(at)
    if (++this.kept > this.most) this.halve()
  }

  private halve(): void {
    while (this.kept > this.most / 2 && this.tracks.size > 1) {
      this.every *= 2
      for (const [client, { times }] of this.tracks) {
        if ((spread(client) & (this.every - 1)) === 0) continue
        this.kept -= times.length
        this.tracks.delete(client)
      }
    }
  }
}

/** Consecutive numbers, far apart. */
function spread(client: number): number {
  let hash = Math.imul(client + 1, 0x9e3779b1)
  hash ^= hash >>> 16
  return Math.imul(hash, 0x85ebca6b) >>> 8
}
