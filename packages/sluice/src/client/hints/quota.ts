// One limit of a server, as its headers describe it.
import type { Millis } from '../../time/clock.ts'

/**
 * One limit of a server, as its headers describe it.
 *
 * @example
 * ```ts
 * const quota: Quota = { unit: 'requests', quota: 100, remaining: 7, resetAfter: 30_000 }
 * ```
 */
export interface Quota {
  /** The policy's name, if it has one. */
  readonly name?: string
  /** What is counted, such as `requests` or `tokens`. */
  readonly unit: string
  /** Units per window. */
  readonly quota?: number
  /** The window's length in milliseconds. */
  readonly window?: Millis
  /** Units left. */
  readonly remaining?: number
  /** Milliseconds until units are available again. */
  readonly resetAfter?: Millis
}

/** The default unit. */
export const REQUESTS = 'requests'

/**
 * Reads one header by its lower-case name; null or undefined if it is absent.
 *
 * @example
 * ```ts
 * const headers: HeaderReader = new Headers({ 'retry-after': '3' })
 * ```
 */
export interface HeaderReader {
  get(name: string): string | null | undefined
}

/** Makes a quota of the known fields; undefined if there is nothing but a name and a unit. */
export function quotaOf(parts: {
  readonly [K in keyof Quota]?: Quota[K] | undefined
}): Quota | undefined {
  const known = Object.entries(parts).filter(([, value]) => value !== undefined)
  const says = known.some(([name]) => name !== 'name' && name !== 'unit')
  return says ? ({ unit: REQUESTS, ...Object.fromEntries(known) } as Quota) : undefined
}

/** Reads a count such as `50` or `7.5`; a negative one is 0. */
export function countOf(text: string | null | undefined): number | undefined {
  const match = /^\s*(-?\d{1,15}(?:\.\d{1,15})?)\s*$/.exec(text ?? '')
  return match === null ? undefined : Math.max(0, Number(match[1]))
}
