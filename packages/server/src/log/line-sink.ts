// Where log lines go: written asynchronously and bounded, so that a reader who stops reading never holds up the service.
import { constants, fstatSync, mkdirSync, openSync, statSync, write } from 'node:fs'
import { Socket } from 'node:net'
import { dirname } from 'node:path'
import type { Writable } from 'node:stream'
import type { Millis } from 'sluice'

/** Lines that wait for their reader, in bytes; lines beyond are dropped and counted. */
const MAX_WAITING = 1_000_000
/** How long a write that failed waits before it is tried again. */
const RETRY_AFTER: Millis = 1000

/** Takes lines; never waits for them to be written, and never throws. */
export interface LineSink {
  write(line: string): void
  /** How many lines were dropped. */
  readonly dropped: number
  /** Resolves when all lines are written, or after `patience`. */
  flush(patience: Millis): Promise<void>
}

/**
 * Appends to a file, which only this user may read, or writes to a pipe. Throws when it cannot be opened, as a pipe
 * without a reader.
 */
export function fileSink(path: string, onError?: (error: Error) => void): LineSink {
  mkdirSync(dirname(path), { recursive: true })
  if (statSync(path, { throwIfNoEntry: false })?.isFIFO() !== true)
    return descriptorSink(openSync(path, 'a', 0o600), onError)
  // A thread that writes to a pipe waits for its reader, and the end of the process waits for the thread.
  const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
  const pipe = new Socket({ fd, readable: false, writable: true })
  pipe.unref()
  return streamSink(pipe)
}

let standardError: LineSink | undefined

/** Standard error of this process, one sink for all its loggers. */
export function standardErrorSink(): LineSink {
  standardError ??= openStandardError()
  return standardError
}

function openStandardError(): LineSink {
  const stat = fstatSync(2)
  // Written by a thread, a pipe whose reader has stopped would block it, and with it the end of the process. Node's own
  // stream does not wait for the reader of a pipe or a socket, but it does for files.
  return stat.isFIFO() || stat.isSocket() ? streamSink(process.stderr) : descriptorSink(2)
}

/** Writes to an open file, on a thread of the pool. Lines for which a full disk has no room wait for it. */
function descriptorSink(fd: number, onError?: (error: Error) => void): LineSink {
  let waiting = ''
  let dropped = 0
  let isWriting = false
  let flushed: (() => void)[] = []
  const writeBytes = (bytes: Buffer): void => {
    write(fd, bytes, (error, written) => {
      if (error !== null) {
        onError?.(error)
        setTimeout(() => writeBytes(bytes), RETRY_AFTER).unref()
      } else if (written < bytes.length) writeBytes(bytes.subarray(written))
      else {
        isWriting = false
        writeWaiting()
      }
    })
  }
  const writeWaiting = (): void => {
    if (isWriting) return
    if (waiting === '') {
      for (const done of flushed) done()
      flushed = []
      return
    }
    isWriting = true
    const bytes = Buffer.from(waiting)
    waiting = ''
    writeBytes(bytes)
  }
  return {
    write(line) {
      if (waiting.length + line.length > MAX_WAITING) dropped++
      else waiting += line
      writeWaiting()
    },
    get dropped() {
      return dropped
    },
    flush: (patience) =>
      within(patience, (done) => {
        flushed.push(done)
        writeWaiting()
      }),
  }
}

/** Writes to a stream. */
export function streamSink(stream: Writable): LineSink {
  let dropped = 0
  let reported = 0
  stream.on('error', () => {})
  stream.on('drain', () => {
    if (dropped === reported) return
    const lines = dropped - reported
    reported = dropped
    const time = new Date().toISOString()
    const msg = 'log lines were dropped: their reader did not keep up'
    stream.write(`${JSON.stringify({ level: 'warn', time, dropped: lines, msg })}\n`)
  })
  return {
    write(line) {
      if (stream.destroyed || stream.writableLength >= MAX_WAITING) dropped++
      else stream.write(line)
    },
    get dropped() {
      return dropped
    },
    flush: (patience) =>
      within(patience, (done) => {
        if (stream.destroyed || stream.writableLength === 0) done()
        else stream.write('', () => done())
      }),
  }
}

function within(patience: Millis, begin: (done: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, patience)
    begin(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
