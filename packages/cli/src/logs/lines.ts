// Cuts a stream of bytes into lines, without copying those that lie within one chunk.

/** Receives one line: `bytes` from `start` up to `end`, without its line break. */
export type OnLine = (bytes: Uint8Array, start: number, end: number) => void

/** The longest line that is read, in bytes; longer lines are counted as malformed, so that memory stays bounded. */
export const MAX_LINE = 1 << 20

const NEWLINE = 10
const RETURN = 13

/** Hands each line to `onLine`, and those over {@link MAX_LINE} to `onTooLong` once. */
export class LineReader {
  private readonly onLine: OnLine
  private readonly onTooLong: () => void
  private rest: Uint8Array = new Uint8Array()
  private isSkipping = false

  constructor(onLine: OnLine, onTooLong: () => void) {
    this.onLine = onLine
    this.onTooLong = onTooLong
  }

  /** Takes the next bytes; they must not change until the call returns. */
  feed(chunk: Uint8Array): void {
    let start = 0
    if (this.rest.length > 0 || this.isSkipping) {
      const end = chunk.indexOf(NEWLINE)
      if (end < 0) return this.keep(chunk)
      this.keep(chunk.subarray(0, end))
      start = end + 1
      this.endRest()
    }
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start)
      if (end < 0) break
      if (end - start > MAX_LINE) this.onTooLong()
      else this.emit(chunk, start, end)
      start = end + 1
    }
    if (start < chunk.length) this.keep(chunk.subarray(start))
  }

  /** Hands over the last line, which may have no line break. */
  end(): void {
    this.endRest()
  }

  private keep(part: Uint8Array): void {
    if (this.isSkipping) return
    if (this.rest.length + part.length > MAX_LINE) {
      this.isSkipping = true
      this.rest = new Uint8Array()
      this.onTooLong()
      return
    }
    const joined = new Uint8Array(this.rest.length + part.length)
    joined.set(this.rest)
    joined.set(part, this.rest.length)
    this.rest = joined
  }

  private endRest(): void {
    const { rest } = this
    this.rest = new Uint8Array()
    if (!this.isSkipping && rest.length > 0) this.emit(rest, 0, rest.length)
    this.isSkipping = false
  }

  private emit(bytes: Uint8Array, start: number, end: number): void {
    const last = end > start && bytes[end - 1] === RETURN ? end - 1 : end
    if (last > start) this.onLine(bytes, start, last)
  }
}
