// Reads a dropped log in the worker: its bytes become instants and keys, and never leave the page.
import { formatOf, parserOf } from '../../cli/src/logs/detect.ts'
import { LineReader } from '../../cli/src/logs/lines.ts'
import { textOf, type LogParser } from '../../cli/src/logs/parser.ts'
import type { Requests } from './requests.ts'

/** What was found in a log. */
export interface LogSummary {
  readonly name: string
  readonly lines: number
  readonly requests: number
  readonly keys: number
  readonly format: string
  /** Lines that could not be read. */
  readonly unreadable: number
  /** The instant of the first request. */
  readonly start: number
  readonly lasts: number
}

/** Lines that the format is found from. */
const FIRST_LINES = 100
/** More requests than these are left out, so that memory stays bounded. */
const MAX_REQUESTS = 5_000_000

/** Reads a file, gzip or plain. Rejects with a sentence for people. */
export async function readLog(
  file: File,
  onProgress: (share: number) => void,
): Promise<{ readonly requests: Requests; readonly summary: LogSummary }> {
  const reader = new LogReader()
  let done = 0
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      done += chunk.length
      onProgress(file.size === 0 ? 1 : done / file.size)
      controller.enqueue(chunk)
    },
  })
  const raw = file.stream().pipeThrough(counted)
  const [first = 0, second = 0] = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  const isGzip = first === 0x1f && second === 0x8b
  const bytes = isGzip
    ? raw.pipeThrough(new DecompressionStream('gzip') as TransformStream<Uint8Array, Uint8Array>)
    : raw
  const chunks = bytes.getReader()
  for (;;) {
    const { done: isEnd, value } = await chunks.read()
    if (isEnd) break
    reader.feed(value)
  }
  return reader.end(file.name)
}

class LogReader {
  private readonly lines = new LineReader(
    (bytes, start, end) => this.line(bytes, start, end),
    () => (this.unreadable += 1),
  )
  private readonly first: string[] = []
  private parser: LogParser | undefined
  private readonly at: number[] = []
  private readonly key: number[] = []
  private readonly numbers = new Map<string, number>()
  private lineCount = 0
  private unreadable = 0

  feed(chunk: Uint8Array): void {
    this.lines.feed(chunk)
  }

  end(name: string): { readonly requests: Requests; readonly summary: LogSummary } {
    this.lines.end()
    if (this.parser === undefined) this.begin()
    if (this.at.length === 0)
      throw new Error(
        `No line of ${name} could be read. Known formats: combined, common, nginx JSON, Caddy, Envoy, ALB, CSV, NDJSON.`,
      )
    const order = Uint32Array.from(this.at, (_, i) => i)
    const isSorted = this.at.every((at, i) => i === 0 || at >= this.at[i - 1]!)
    if (!isSorted) order.sort((a, b) => this.at[a]! - this.at[b]! || a - b)
    const start = this.at[order[0]!]!
    // A second more, so that the last request is drawn too.
    const lasts = this.at[order.at(-1)!]! - start + 1000
    return {
      requests: {
        at: Float64Array.from(order, (i) => this.at[i]! - start),
        key: Uint32Array.from(order, (i) => this.key[i]!),
        keys: [...this.numbers.keys()],
        lasts,
        start,
        retry: undefined,
      },
      summary: {
        name,
        lines: this.lineCount,
        requests: this.at.length,
        keys: this.numbers.size,
        format: this.parser?.format ?? 'unknown',
        unreadable: this.unreadable,
        start,
        lasts,
      },
    }
  }

  private line(bytes: Uint8Array, start: number, end: number): void {
    this.lineCount += 1
    if (this.parser !== undefined) return this.read(this.parser, bytes, start, end)
    this.first.push(textOf(bytes, start, end))
    if (this.first.length === FIRST_LINES) this.begin()
  }

  /** Finds the format, then reads the lines that were kept for it. */
  private begin(): void {
    const mapping = new Map<string, string>()
    const format = formatOf(this.first, mapping)
    if (format === undefined) {
      this.unreadable += this.first.splice(0).length
      return
    }
    const parser = parserOf(format, mapping, this.first[0])
    this.parser = parser
    for (const line of this.first.slice(format === 'csv' ? 1 : 0)) {
      const bytes = new TextEncoder().encode(line)
      this.read(parser, bytes, 0, bytes.length)
    }
  }

  private read(parser: LogParser, bytes: Uint8Array, start: number, end: number): void {
    const name = parser.read(bytes, start, end) === undefined ? parser.value('ip') : undefined
    if (name === undefined || this.at.length >= MAX_REQUESTS) {
      this.unreadable += 1
      return
    }
    let number = this.numbers.get(name)
    if (number === undefined) this.numbers.set(name, (number = this.numbers.size))
    this.at.push(parser.at)
    this.key.push(number)
  }
}
