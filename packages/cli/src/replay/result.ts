// What a replay found, as plain data: everything that is printed, drawn or written as JSON comes from here.
import type { Limit, Millis } from 'sluice'
import type { Fault, FormatName } from '../logs/parser.ts'
import type { Curve } from './curve.ts'
import type { Caveat } from './caveats.ts'

/** Lines that could not be read, by the reason. */
interface BadLines {
  readonly fault: Fault
  readonly count: number
  /** Where the first of them is: the file and the number of the line, from 1. */
  readonly file: string
  readonly line: number
}

/** What was read. */
interface InputSummary {
  readonly files: readonly string[]
  readonly formats: readonly FormatName[]
  readonly lines: number
  /** Lines that were decided about. */
  readonly requests: number
  readonly badLines: readonly BadLines[]
  /** Lines without the attributes of `by`, which a rule would skip. */
  readonly withoutKey: number
  /** Lines outside `--from` and `--to`. */
  readonly outside: number
  /** Instants of the first and last request, in milliseconds since 1970; null when there is none. */
  readonly from: Millis | null
  readonly to: Millis | null
  /** True when Ctrl+C ended it before the end of the log. */
  readonly stopped: boolean
}

/** A client that a candidate refused. */
export interface Victim {
  readonly client: string
  readonly requests: number
  readonly refused: number
  /** The most requests within one window of the candidate. */
  readonly peak: number
  /** The longest time during which all its requests were refused. */
  readonly longest: Millis
}

/** The longest time during which all requests of one client were refused. */
interface Stretch {
  readonly client: string
  readonly from: Millis
  readonly duration: Millis
}

/** What one limit, or one policy, would have done. */
export interface CandidateResult {
  readonly name: string
  /** Null for a policy, which may have several. */
  readonly limit: Limit | null
  readonly refused: number
  /** Refused requests of all requests, 0 to 1. */
  readonly refusedShare: number
  readonly clientsHit: number
  /** Clients with a refused request of all clients, 0 to 1. */
  readonly clientShare: number
  /** Those with the most refused requests first. */
  readonly victims: readonly Victim[]
  readonly longest: Stretch | null
  /** Refusals by rule, for a policy. */
  readonly rules: readonly { readonly rule: string; readonly refused: number }[]
  /** Refused requests in each step of the timeline. */
  readonly timeline: readonly number[]
}

/** How many clients had which peak within one window. */
export interface PeakSummary {
  readonly window: Millis
  readonly p50: number
  readonly p90: number
  readonly p95: number
  readonly p99: number
  readonly p999: number
  readonly max: number
  /** Clients by peak, in rising order; joined into ranges, under their highest peak, where there are many. */
  readonly distribution: readonly (readonly [peak: number, clients: number])[]
}

/** Everything that a replay found. */
export interface ReplayResult {
  readonly version: 1
  /** The finding in one sentence. */
  readonly verdict: string
  readonly input: InputSummary
  readonly by: readonly string[]
  readonly clients: number
  /** Whether clients are shown as hashes. */
  readonly hashed: boolean
  readonly candidates: readonly CandidateResult[]
  readonly timeline: {
    readonly start: Millis
    readonly width: Millis
    readonly requests: readonly number[]
  }
  readonly peaks: readonly PeakSummary[]
  readonly curves: readonly Curve[]
  /** What to keep in mind when reading the numbers. */
  readonly caveats: readonly Caveat[]
}
