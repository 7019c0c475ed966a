// What a fleet tells a member and what it answers.
import type { Bucket } from './spans.ts'

/** How the members share their counts. */
export type Mode = 'leased' | 'synced' | 'strict'

/** What every member of a fleet does. */
export interface Plan {
  readonly mode: Mode
  readonly bucket: Bucket
  readonly life: number
  /** Milliseconds within which synced members see what the others took. */
  readonly interval: number
  /** Requests per millisecond of each member, on average. */
  readonly demand: number
  /** Whether demand changes four times a second, from a tenth of the average to four times as much. */
  readonly isBursty: boolean
  /** Whether demand comes in bursts of half a second, four times the average, every two seconds, and not between. */
  readonly isOffAndOn?: boolean
  /** Keys, of which the first is the most frequent (Zipf, exponent 1.1). */
  readonly keys: number
}

/** The orders of one member. */
export interface Orders extends Plan {
  readonly port: number
  /** The sentinels that know the server, and its name among them. */
  readonly sentinels?: readonly { readonly host: string; readonly port: number }[]
  readonly name?: string
  readonly seed: number
  /** Where the record goes. */
  readonly file: string
}

/** `warm`: when the store answers. `load`: begin, or go on, with a multiple of the demand. `spend`: when a lease is next spent. `until`: when it is so late. */
export type Request =
  | { readonly is: 'warm' }
  | { readonly is: 'load'; readonly factor: number }
  | { readonly is: 'spend' }
  | { readonly is: 'until'; readonly at: number }
  | { readonly is: 'end' }

/** What became of the requests that were not admitted. */
export interface Missed {
  /** The count had no room. */
  readonly refused: number
  /** The store did not decide. */
  readonly undecided: number
  /** Not sent, since too many were under way. */
  readonly unsent: number
}

/** The answer to the request of the same name. */
export interface Answer {
  readonly is: Request['is'] | 'ready'
  /** With `end`. */
  readonly missed?: Missed
}
