// What the interop tests ask, and what any client must be told.

/** A descriptor: entries, a limit of its own as [requests, unit], hits of its own. */
export interface QuestionDescriptor {
  readonly entries: readonly (readonly [string, string])[]
  readonly limit?: readonly [number, number]
  readonly hits?: number
  readonly negative?: boolean
}

/** A request. */
export interface Question {
  readonly domain: string
  readonly hits?: number
  readonly descriptors: readonly QuestionDescriptor[]
}

/** The answer for one descriptor, as numbers of the protocol. */
export interface Status {
  readonly code: number
  readonly remaining: number
  readonly limit?: readonly [number, number]
  readonly name?: string
  /** Seconds. */
  readonly reset?: number
}

/** The status of the call, and for OK (0) what the response says. */
export interface Outcome {
  readonly status: number
  readonly code?: number
  readonly statuses?: readonly Status[]
  readonly headers?: readonly (readonly [string, string])[]
}

/** A client of any make. */
export interface Client {
  readonly name: string
  ask(question: Question): Promise<Outcome>
  close(): Promise<void>
}

export const OK = 1
export const OVER = 2
export const SECOND = 1
export const MINUTE = 2
export const HOUR = 3
export const DAY = 4
export const MONTH = 5
export const YEAR = 6
export const WEEK = 7
/** What is left where there is no limit. */
export const UNLIMITED = 4_294_967_295
