// The common and combined formats of Apache and nginx, parsed byte by byte: this is the hot path of large logs.
import type { Millis } from 'sluice'
import { textOf, type ByteParser, type Fault, type FormatName, type Mapping } from './parser.ts'
import { ClockStamp, digits } from './stamp.ts'

const SPACE = 32
const QUOTE = 34
const BACKSLASH = 92
const OPEN = 91
const CLOSE = 93
const DASH = 45
const QUESTION = 63

/** The fields by their place in the line; `FIELD_NAMES[i]` begins at `starts[i]`. */
const FIELD_NAMES = ['ip', 'user', 'method', 'path', 'status', 'referer', 'userAgent'] as const
const IP = 0
const USER = 1
const METHOD = 2
const PATH = 3
const STATUS = 4
const REFERER = 5
const AGENT = 6

/**
 * Reads `host ident user [time] "request" status bytes`, with `"referer" "agent"` behind it in the combined format. What
 * follows these is ignored, as people add fields at the end.
 */
export class CombinedParser implements ByteParser {
  readonly format: FormatName
  at: Millis = 0
  status = 0
  readonly duration = Number.NaN
  from = 0
  to = 0
  private readonly stamp = new ClockStamp()
  private readonly mapping: Mapping
  private readonly starts = new Int32Array(FIELD_NAMES.length)
  private readonly ends = new Int32Array(FIELD_NAMES.length)
  private bytes: Uint8Array = new Uint8Array()
  /** Where the rest of the line begins; -1 once referer and agent were located in it, which few lines need. */
  private tail = -1
  private end = 0

  constructor(format: 'combined' | 'common', mapping: Mapping) {
    this.format = format
    this.mapping = mapping
  }

  read(bytes: Uint8Array, start: number, end: number): Fault | undefined {
    const { starts, ends } = this
    this.bytes = bytes
    let i = start
    while (i < end && bytes[i] !== SPACE) i++
    if (i === start || i >= end) return 'not in the format'
    starts[IP] = start
    ends[IP] = i
    // ident, which may hold anything but a space.
    i++
    while (i < end && bytes[i] !== SPACE) i++
    // The user may hold spaces; the stamp begins at the first " [".
    const user = ++i
    while (i < end && !(bytes[i] === OPEN && bytes[i - 1] === SPACE)) i++
    if (i >= end) return 'not in the format'
    const hasUser = !(bytes[user] === DASH && i - user === 2)
    starts[USER] = user
    ends[USER] = hasUser ? Math.max(user, i - 1) : user
    if (i + 28 > end) return 'cut off'
    if (bytes[i + 27] !== CLOSE) return 'time missing'
    this.at = this.stamp.read(bytes, i + 1)
    if (Number.isNaN(this.at)) return 'time impossible'
    i += 29
    if (i >= end || bytes[i] !== QUOTE) return i >= end ? 'cut off' : 'not in the format'
    const request = i + 1
    i = closingQuote(bytes, request, end)
    if (i >= end) return 'cut off'
    this.readRequest(bytes, request, i)
    const status = digits(bytes, i + 2, 3)
    if (i + 5 > end) return 'cut off'
    if (bytes[i + 1] !== SPACE || Number.isNaN(status)) return 'not in the format'
    this.status = status
    starts[STATUS] = i + 2
    ends[STATUS] = i + 5
    this.tail = i + 5
    this.end = end
    return undefined
  }

  locate(attribute: string): boolean {
    if (this.mapping.has(attribute)) return false
    const index = this.indexOf(attribute)
    if (index < 0) return false
    this.from = this.starts[index] as number
    this.to = this.ends[index] as number
    return this.to > this.from
  }

  value(attribute: string): string | undefined {
    return this.field(this.mapping.get(attribute) ?? attribute)
  }

  field(name: string): string | undefined {
    const index = this.indexOf(name)
    if (index < 0) return undefined
    const [from, to] = [this.starts[index] as number, this.ends[index] as number]
    return to > from ? textOf(this.bytes, from, to) : undefined
  }

  fields(): readonly string[] {
    return this.format === 'common' ? FIELD_NAMES.slice(0, 5) : FIELD_NAMES
  }

  /** The place of a field that has been found in the line; -1 when there is no such field. */
  private indexOf(name: string): number {
    const index = (FIELD_NAMES as readonly string[]).indexOf(name)
    if (index >= REFERER && this.tail >= 0) {
      this.readTail(this.bytes, this.tail, this.end)
      this.tail = -1
    }
    return index
  }

  /** `GET /path?query HTTP/1.1`; what is no request leaves method and path unknown. */
  private readRequest(bytes: Uint8Array, start: number, end: number): void {
    const { starts, ends } = this
    let i = start
    while (i < end && bytes[i] !== SPACE) i++
    const isRequest = i < end && i > start
    starts[METHOD] = start
    ends[METHOD] = isRequest ? i : start
    const path = i + 1
    let query = -1
    for (i = path; i < end && bytes[i] !== SPACE; i++)
      if (query < 0 && bytes[i] === QUESTION) query = i
    starts[PATH] = isRequest ? path : start
    ends[PATH] = isRequest ? (query < 0 ? i : query) : start
  }

  private readTail(bytes: Uint8Array, start: number, end: number): void {
    const { starts, ends } = this
    starts[REFERER] = ends[REFERER] = starts[AGENT] = ends[AGENT] = end
    let i = start
    for (const field of [REFERER, AGENT]) {
      while (i < end && bytes[i] !== QUOTE) i++
      if (i >= end) return
      const close = closingQuote(bytes, i + 1, end)
      if (close >= end) return
      const isNone = close - i === 2 && bytes[i + 1] === DASH
      starts[field] = i + 1
      ends[field] = isNone ? i + 1 : close
      i = close + 1
    }
  }
}

/** Where the quoted string that begins at `start` ends; `end` when it does not. */
function closingQuote(bytes: Uint8Array, start: number, end: number): number {
  for (let i = start; i < end; i++) {
    const byte = bytes[i]
    if (byte === QUOTE) return i
    if (byte === BACKSLASH) i++
  }
  return end
}
