// What a fault scenario is: servers, a fault, a load, and the figures that must come of it.
import type { Held, Times } from './figures.ts'
import type { Orders, PodRecord, Target } from './orders.ts'
import type { Pod, PodHost } from './pods.ts'

/** The limit of the hot key and of every one-shot key: nothing of it comes back while a scenario runs. */
export const QUOTA = 200
export const WINDOW = 86_400_000
/** The deadline of a call at default settings, in ms. */
export const TIMEOUT = 100
/** A deadline that no pause of the machine reaches, for tests of faults in which the store is there all the time. */
export const PATIENT = 5000
/** The share of a quota that the fallback admits, by default. */
export const SHARE = 1 / 2

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
  /** A figure of this scenario alone, the most that it may be, and whether a slow machine makes it larger. */
  readonly hold: (what: string, value: number, most: number, isTimed?: boolean) => void
}

/** Servers that are up, and what goes wrong with them. */
export interface Place extends PodHost {
  /** What pods connect to. */
  readonly target: Target
  /** Where the counts are read when all is over. */
  readonly truth: () => Promise<Target>
  readonly fault: (occasion: Occasion) => Promise<void>
  /** Figures of this scenario alone, from what a pod has recorded. */
  readonly measure?: (record: PodRecord, times: Times, orders: Orders) => readonly Held[]
  readonly stop: () => Promise<void>
}

/** The figures that a scenario must keep; those left out are the common ones. */
export interface Bounds {
  /** Units of the hot key that the store admits once more, because the fault took its count away. */
  readonly again?: number
  /** Units charged in time whose reply never came, so that the fallback answered: the calls that were on their way. */
  readonly unheard?: number
  /** Requests that the fallback may answer: none where the store is there all the time. Any number by default. */
  readonly fallback?: number
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
  /** What of that load is less in the tests, which share the machine with others. */
  readonly gentleLoad?: Partial<Orders>
  /** Pods of each client; default 1. */
  readonly pods?: number
  /** The fault sees to the load itself, or is there before the pods are: the run does not wait for the hot key to be spent. */
  readonly isCold?: boolean
  /** Milliseconds of load after the store's return; default 1200, and until the store is back. */
  readonly after?: number
  /** It is not about the deadline: the tests give the store more time, as where it is there all along. */
  readonly isPatient?: boolean
  /** Clients that run one after the other instead of side by side. */
  readonly isAlone?: boolean
  /** Runs in `npm run faults` and `npm run test:long` alone. */
  readonly isExtra?: boolean
}
