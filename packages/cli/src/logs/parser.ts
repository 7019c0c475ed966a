// What a log format is to the rest: a parser that reads one line at a time into fields of its own.
import type { Millis } from 'sluice'

/** The formats that can be read, in the order in which they are documented. */
export const FORMATS = [
  'combined',
  'common',
  'nginx-json',
  'caddy',
  'envoy',
  'alb',
  'csv',
  'ndjson',
] as const

/** The name of a log format. */
export type FormatName = (typeof FORMATS)[number]

/** Why a line could not be read. */
export type Fault =
  | 'binary'
  | 'too long'
  | 'cut off'
  | 'not in the format'
  | 'time missing'
  | 'time impossible'

/** Reads lines of one format. The members hold what the last line said, until the next one is read. */
export interface LogParser {
  readonly format: FormatName
  /** The instant that the line carries, in milliseconds since 1970. */
  readonly at: Millis
  /** The HTTP status; 0 when the line has none. */
  readonly status: number
  /** How long the request took; NaN when the line does not say. */
  readonly duration: Millis
  /** Reads the line in `bytes` from `start` up to `end`; undefined, or why it cannot be read. */
  read(bytes: Uint8Array, start: number, end: number): Fault | undefined
  /** The value of an attribute; undefined when the line has none. */
  value(attribute: string): string | undefined
  /** The names of the fields that the line offers, for error messages. */
  fields(): readonly string[]
  /** The value of a field by its own name in the log; undefined when there is none. */
  field(name: string): string | undefined
}

/** A parser whose values are ranges of the line's bytes, so that counting needs no string. */
export interface ByteParser extends LogParser {
  /** Where the value of the last {@link locate} begins and ends in the line's bytes. */
  readonly from: number
  readonly to: number
  /** Finds an attribute's bytes; false when there are none, or when the value differs from them, as an escaped string does. */
  locate(attribute: string): boolean
}

/** Which attribute is which field of the log, as said by `--map`. */
export type Mapping = ReadonlyMap<string, string>

/** The string in a range of bytes; bytes that are not UTF-8 become the replacement character. */
export function textOf(bytes: Uint8Array, start: number, end: number): string {
  // Short ASCII strings are most of what is read, and a decoder costs more than they do.
  const part = bytes.subarray(start, end)
  if (part.length >= 24 || part.some((byte) => byte > 127)) return decoder.decode(part)
  // oxlint-disable-next-line sluice/no-spread-arguments -- fewer than 24 bytes
  return String.fromCharCode(...part)
}

const decoder = new TextDecoder()
