// What a server says of one of its limits.
import type { Millis } from '../../time/clock.ts'

/** One limit of a server, as far as its headers tell. */
export interface Quota {
  /** The policy's name, when it has one. */
  readonly name?: string
  /** What is counted. */
  readonly unit: string
  /** Units per window. */
  readonly quota?: number
  readonly window?: Millis
  /** Units left. */
  readonly remaining?: number
  /** Until units come back. */
  readonly resetAfter?: Millis
}

/** What is counted unless a server says otherwise. */
export const REQUESTS = 'requests'

/** Reads one header; null or undefined when it is absent. */
export interface HeaderReader {
  get(name: string): string | null | undefined
}

/** Makes a quota of what is known, and nothing of nothing. */
export function quotaOf(parts: {
  readonly [K in keyof Quota]?: Quota[K] | undefined
}): Quota | undefined {
  const known = Object.entries(parts).filter(([, value]) => value !== undefined)
  const says = known.some(([name]) => name !== 'name' && name !== 'unit')
  return says ? ({ unit: REQUESTS, ...Object.fromEntries(known) } as Quota) : undefined
}

/** A count as servers write it: `50`, `7.5`; a negative one is as good as none left. */
export function countOf(text: string | null | undefined): number | undefined {
  const match = /^\s*(-?\d{1,15}(?:\.\d{1,15})?)\s*$/.exec(text ?? '')
  return match === null ? undefined : Math.max(0, Number(match[1]))
}
