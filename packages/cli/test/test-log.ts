// Logs and streams for tests: lines made from a few numbers, and a terminal that keeps what is written.
import { Readable } from 'node:stream'
import type { Streams } from '../src/terminal/streams.ts'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Where test logs begin. */
export const START: number = Date.UTC(2026, 4, 17, 8, 0, 0)

/** One line of the combined format. */
export function lineOf(
  at: number,
  ip: string,
  more: { status?: number; path?: string; agent?: string } = {},
): string {
  const { status = 200, path = '/', agent = 'curl' } = more
  const date = new Date(at)
  const two = (value: number): string => String(value).padStart(2, '0')
  const day = `${two(date.getUTCDate())}/${MONTHS[date.getUTCMonth()]}/${date.getUTCFullYear()}`
  const time = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`
  return `${ip} - - [${day}:${time} +0000] "GET ${path} HTTP/1.1" ${status} 12 "-" "${agent}"`
}

/** A terminal that keeps what is written. */
export interface TestStreams extends Streams {
  readonly out: () => string
  readonly err: () => string
  readonly stop: AbortController
}

/** Streams around a command; `input` is standard input. */
export function streamsWith(input: string | Readable = ''): TestStreams {
  let [out, err] = ['', '']
  const stop = new AbortController()
  return {
    stdin: typeof input === 'string' ? Readable.from([Buffer.from(input)]) : input,
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    signal: stop.signal,
    stop,
    out: () => out,
    err: () => err,
  }
}
