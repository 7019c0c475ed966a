// What a fault scenario is: servers, a fault, a load, and the figures that must come of it.
import type { Orders, Target } from './orders.ts'
import type { Pod } from './pods.ts'

/** The limit of the hot key and of every one-shot key: nothing of it comes back while a scenario runs. */
export const QUOTA = 200
export const WINDOW = 86_400_000
/** What the fallback admits of it: the default share, one half. */
export const SHARE = QUOTA / 2

/** A fault as it happens. */
export interface Occasion {
  /** Milliseconds that the fault should last. */
  readonly length: number
  readonly pods: readonly Pod[]
  /** To be called when the fault begins. */
  readonly begin: () => void
  /** To be called as soon as the store could answer again. */
  readonly back: () => void
  /** Resolves when the fault has lasted its length, or after so many ms. */
  readonly last: (milliseconds?: number) => Promise<void>
  /** A figure of this scenario alone, and the most that it may be. */
  readonly hold: (what: string, value: number, most: number) => void
}

/** Servers that are up, and what goes wrong with them. */
export interface Place {
  /** What pods connect to. */
  readonly target: Target
  /** Where the counts are read when all is over. */
  readonly truth: () => Promise<Target>
  readonly fault: (occasion: Occasion) => Promise<void>
  readonly stop: () => Promise<void>
}

/** The figures that a scenario must keep; those left out are the common ones. */
export interface Bounds {
  /** Of the spent hot key: units admitted from the beginning of the fault to the store's return, and by the fallback later. */
  readonly admittedInFault?: number
  /** Of the spent hot key: units admitted by the store after its return. */
  readonly admittedAfter?: number
  /** Units charged in time whose reply never came, so that the fallback answered. */
  readonly unheard?: number
  /** Requests that the fallback may answer; 'none' where the store is there all the time. */
  readonly fallback?: 'any' | 'none'
  /** What a request may wait (in ms) beyond the usual, because its own process stood still. */
  readonly stood?: number
  /** The median wait (in ms) where requests wait for the store and not for the fallback; 5 by default. */
  readonly median?: number
  /** Milliseconds after the return until the store answers again. */
  readonly recovery?: number
}

export interface Scenario {
  readonly name: string
  /** Milliseconds that the fault lasts: in the tests, and in `npm run faults`. */
  readonly length: { readonly test: number; readonly full: number }
  /** Starts the servers. `seed` makes chance repeatable. */
  readonly open: (seed: number) => Promise<Place>
  readonly bounds: Bounds
  /** How the load differs from 400 hot and 100 one-shot requests a second by one connection. */
  readonly load?: Partial<Orders>
  /** Pods of each client; default 1. */
  readonly pods?: number
  /** The fault sees to the load itself, or is there before the pods are: nobody waits for the hot key to be spent. */
  readonly isCold?: boolean
  /** Further environment of the pods. */
  readonly env?: (place: Place) => Record<string, string>
  /** Milliseconds of load after the store's return; default 2000. */
  readonly after?: number
  /** Clients that run one after the other instead of side by side. */
  readonly isAlone?: boolean
}
