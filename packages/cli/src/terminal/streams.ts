// Where a command reads and writes, so that tests can stand in for the terminal.
import type { Readable } from 'node:stream'

/** A stream that text is written to; `isTTY` and `columns` as terminals have them. */
export interface TextOutput {
  write(text: string): unknown
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
}

/** Everything around a command. */
export interface Streams {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: TextOutput
  readonly stderr: TextOutput
  /** Ends long work early, as Ctrl+C does. */
  readonly signal: AbortSignal
}

/** Writes one line. */
export function print(output: TextOutput, line: string): void {
  output.write(`${line}\n`)
}

/** The columns of the terminal, or a width that fits most terminals. */
export function columnsOf(output: TextOutput): number {
  return Math.min(120, Math.max(40, output.columns ?? 100))
}
