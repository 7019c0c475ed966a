// One log of a replay: finds its format, parses its lines, and keeps lines with implausible times out.
import type { Millis } from 'sluice'
import { formatOf, parserOf } from '../logs/detect.ts'
import { LineReader } from '../logs/lines.ts'
import {
  FORMATS,
  textOf,
  type Fault,
  type FormatName,
  type LogParser,
  type Mapping,
} from '../logs/parser.ts'
import { Mistake } from '../terminal/mistake.ts'

/** Lines that are read before it is clear whether format and mapping fit. */
const TRIAL_LINES = 100

/** A time that jumps ahead by more than this must be confirmed by the line that follows. */
const PLAUSIBLE_JUMP: Millis = 86_400_000

/** How the lines of a log are read, and who receives them. */
export interface SourceOptions<T> {
  readonly format: FormatName | undefined
  readonly mapping: Mapping
  /** How far behind the newest a line may be and still keep its time. */
  readonly window: Millis
  /** Subtracts the duration of each request from its time. */
  readonly arrival: boolean
  /** The client of the line that was just parsed, and what deciders need of it; undefined to leave the line out. */
  readonly identify: (parser: LogParser, at: Millis, bytes: Uint8Array) => Identified<T> | undefined
  readonly onRequest: (at: Millis, client: number, item: T | undefined) => void
  readonly onFault: (fault: Fault, source: string, line: number) => void
  /** Called once the first lines are parsed; throws {@link Mistake} when the mapping cannot be right. */
  readonly onTrial: (trial: Trial) => void
  /** The attributes that the first lines are searched for. */
  readonly attributes: readonly string[]
}

/** What the first lines of a log had. */
export interface Trial {
  readonly parser: LogParser
  readonly file: string
  /** Lines that could be read. */
  readonly parsed: number
  /** The attributes that at least one of them had. */
  readonly seen: ReadonlySet<string>
  /** The fields that at least one of them had a value for. */
  readonly offered: ReadonlySet<string>
}

/** Who made a request. The object is reused from line to line. */
export interface Identified<T> {
  client: number
  item: T | undefined
}

interface Suspect<T> {
  readonly at: Millis
  readonly client: number
  readonly item: T | undefined
}

/** Reads one log from its bytes. */
export class Source<T> {
  readonly name: string
  lines = 0
  /** The newest plausible instant; -Infinity before there is one. */
  newest = -Infinity
  /** Lines that are earlier than one before them. */
  unsorted = 0
  /** Lines that are earlier by more than the window; they count at its edge. */
  late = 0
  /** Lines with a time that no other line confirms. */
  implausible = 0
  parser: LogParser | undefined
  private readonly options: SourceOptions<T>
  private readonly reader: LineReader
  private trial: Uint8Array[] = []
  private unconfirmed: Suspect<T> | undefined

  constructor(name: string, options: SourceOptions<T>) {
    this.name = name
    this.options = options
    this.reader = new LineReader(
      (bytes, start, end) => this.line(bytes, start, end),
      () => options.onFault('too long', name, ++this.lines),
    )
  }

  /** Takes the next bytes of the log. Throws {@link Mistake}. */
  feed(chunk: Uint8Array): void {
    this.reader.feed(chunk)
  }

  /** Takes note that the log has ended. Throws {@link Mistake}. */
  end(): void {
    this.reader.end()
    if (this.parser === undefined && this.trial.length > 0) this.begin()
    this.confirm()
    this.newest = Infinity
  }

  private line(bytes: Uint8Array, start: number, end: number): void {
    if (this.parser !== undefined) {
      this.lines++
      this.parse(this.parser, bytes, start, end)
      return
    }
    this.trial.push(bytes.slice(start, end))
    if (this.trial.length >= TRIAL_LINES) this.begin()
  }

  /** Finds the format, and reads the lines that were kept for that. */
  private begin(): void {
    const { mapping, onTrial, attributes } = this.options
    const lines = this.trial
    this.trial = []
    const texts = lines.map((line) => textOf(line, 0, Math.min(line.length, 65_536)))
    const format = this.options.format ?? formatOf(texts, mapping)
    if (format === undefined)
      throw new Mistake(
        `${this.name}: the format is not known; the first line is ${shown(texts[0] ?? '')}; accepted: --format ${FORMATS.join(', ')}`,
      )
    const parser = parserOf(format, mapping, texts[0])
    this.parser = parser
    let parsed = 0
    const seen = new Set<string>()
    const offered = new Set<string>()
    const faults = new Map<Fault, number>()
    for (const [i, line] of lines.entries()) {
      this.lines++
      if (format === 'csv' && i === 0) continue
      const fault = this.parse(parser, line, 0, line.length)
      if (fault === undefined) {
        parsed++
        for (const name of attributes) if (parser.value(name) !== undefined) seen.add(name)
        for (const name of parser.fields()) if (parser.field(name) !== undefined) offered.add(name)
      } else faults.set(fault, (faults.get(fault) ?? 0) + 1)
    }
    if (parsed === 0) throw new Mistake(this.noneParsed(format, texts, faults))
    onTrial({ parser, file: this.name, parsed, seen, offered })
  }

  private noneParsed(
    format: FormatName,
    texts: readonly string[],
    faults: ReadonlyMap<Fault, number>,
  ): string {
    const { mapping } = this.options
    const [fault = 'not in the format'] = [...faults].toSorted(([, a], [, b]) => b - a)[0] ?? []
    const other = formatOf(texts, mapping)
    const isTime = fault === 'time missing' || fault === 'time impossible'
    const hint = isTime
      ? `the lines offer ${this.parser!.fields().join(', ')}; accepted: --map time=<field>`
      : other !== undefined && other !== format
        ? `they look like --format ${other}`
        : `the first line is ${shown(texts[0] ?? '')}`
    return `${this.name}: none of the first ${texts.length} lines can be read as ${format} (${fault}); ${hint}`
  }

  private parse(
    parser: LogParser,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): Fault | undefined {
    const fault = parser.read(bytes, start, end)
    if (fault !== undefined) {
      const isBinary = fault !== 'time impossible' && holdsControl(bytes, start, end)
      this.options.onFault(isBinary ? 'binary' : fault, this.name, this.lines)
      return fault
    }
    const { arrival, identify } = this.options
    const { duration } = parser
    const at = arrival && duration > 0 ? Math.floor(parser.at - duration) : parser.at
    const found = identify(parser, at, bytes)
    if (found !== undefined) this.addRequest(at, found.client, found.item)
    return undefined
  }

  /** Passes a request on, unless its time is so far ahead that another line must confirm it. */
  private addRequest(at: Millis, client: number, item: T | undefined): void {
    const { unconfirmed: suspect } = this
    if (at - this.newest <= PLAUSIBLE_JUMP) {
      if (suspect !== undefined) {
        this.implausible++
        this.unconfirmed = undefined
      }
      const edge = this.newest - this.options.window
      if (at >= this.newest) this.newest = at
      else this.unsorted++
      if (at < edge) this.late++
      // At the edge, not when it is read: the result must not depend on how the log comes in chunks.
      this.options.onRequest(Math.max(at, edge), client, item)
      return
    }
    if (suspect !== undefined && Math.abs(at - suspect.at) <= PLAUSIBLE_JUMP) {
      this.confirm()
      this.addRequest(at, client, item)
      return
    }
    if (suspect !== undefined) this.implausible++
    this.unconfirmed = { at, client, item }
  }

  private confirm(): void {
    const { unconfirmed: suspect } = this
    if (suspect === undefined) return
    this.unconfirmed = undefined
    this.newest = Math.max(this.newest, suspect.at)
    this.options.onRequest(suspect.at, suspect.client, suspect.item)
  }
}

function holdsControl(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number
    if (byte < 32 && byte !== 9 && byte !== 27) return true
  }
  return false
}

/** The beginning of a line, with nothing that could steer a terminal. */
function shown(line: string): string {
  const text = line.slice(0, 120)
  return JSON.stringify(text) + (line.length > 120 ? '…' : '')
}
