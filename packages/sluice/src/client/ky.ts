// Politeness for ky: options for `ky.extend`.
import { Manners, type PoliteOptions } from './manners.ts'
import { polite, type Fetch } from './polite.ts'

/** What ky is told: a polite fetch instead of retries of its own, and the time that those may take. */
export interface PoliteKyOptions {
  readonly fetch: Fetch
  readonly retry: 0
  readonly timeout: number
}

/** `ky.extend(politeKy())`. Ky's timeout covers all attempts, so it is raised by the time that they may take. */
export function politeKy(options: PoliteOptions = {}): PoliteKyOptions {
  const { totalTime } = new Manners('politeKy', options)
  return { fetch: polite(globalThis.fetch, options), retry: 0, timeout: totalTime + 10_000 }
}
