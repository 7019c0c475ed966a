// Opens logs: files or standard input, plain, gzip or zstd by their first bytes.
import { createReadStream } from 'node:fs'
import { access, constants, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

/** One log as bytes. */
export interface LogInput {
  readonly name: string
  /** Bytes on disk; undefined for standard input. */
  readonly size: number | undefined
  /** Bytes taken from the disk so far. */
  readonly taken: () => number
  /** The bytes of the log itself. Ends early, with a `problem`, where compressed data is damaged or cut off. */
  readonly chunks: AsyncIterable<Uint8Array>
  readonly problem: () => string | undefined
  /** Ends the reading, also while it waits for bytes. */
  readonly close: () => void
}

/** Small enough that a hundred files can be merged, large enough to read at the speed of the disk. */
const CHUNK = 256 * 1024

/** Opens a file, or standard input for `-`. Rejects when it cannot be read, as `open` of Node does. */
export async function openLog(name: string, stdin: Readable = process.stdin): Promise<LogInput> {
  if (name === '-') return logOf('standard input', undefined, stdin)
  await access(name, constants.R_OK)
  const found = await stat(name)
  if (found.isDirectory())
    throw Object.assign(new Error(`${name} is a folder; accepted: log files, or -`), {
      code: 'EISDIR',
    })
  return logOf(
    name,
    found.isFile() ? found.size : undefined,
    createReadStream(name, { highWaterMark: CHUNK }),
  )
}

/** The log in a stream of bytes. */
export function logOf(
  name: string,
  size: number | undefined,
  stream: AsyncIterable<unknown>,
): LogInput {
  let taken = 0
  let problem: string | undefined
  async function* raw(): AsyncGenerator<Uint8Array> {
    for await (const chunk of stream) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Uint8Array)
      taken += bytes.length
      yield bytes
    }
  }
  async function* chunks(): AsyncGenerator<Uint8Array> {
    const source = await withFirst(raw())
    try {
      if (begins(source.first, GZIP)) yield* gunzipped(source.all)
      else if (begins(source.first, ZSTD)) yield* unzstd(source.all)
      else yield* source.all
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException
      if (code?.startsWith('Z_') !== true) throw error
      problem = `${name}: the compressed data is damaged or cut off (${message}); what came before it was read, but for 16 kB at most`
    }
  }
  const close = (): void => {
    if (stream instanceof Readable) stream.destroy()
  }
  return { name, size, taken: () => taken, chunks: chunks(), problem: () => problem, close }
}

const GZIP = [0x1f, 0x8b]
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd]

function begins(bytes: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, i) => bytes[i] === byte)
}

/** The first bytes, enough to know what they are, and the stream from its beginning. */
async function withFirst(
  stream: AsyncGenerator<Uint8Array>,
): Promise<{ readonly first: Uint8Array; readonly all: AsyncGenerator<Uint8Array> }> {
  let first: Uint8Array = new Uint8Array()
  while (first.length < ZSTD.length) {
    const next = await stream.next()
    if (next.done === true) break
    first = first.length === 0 ? next.value : Buffer.concat([first, next.value])
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    if (first.length > 0) yield first
    yield* stream
  }
  return { first, all: all() }
}

/** The last bytes of gzip: a checksum and a length. They come alone, so that a wrong one costs no line before it. */
const TRAILER = 8
/** Bytes that are unpacked in one step, so that data which unpacks to a thousand times its size stays small. */
const STEP = 16 * 1024

async function* gunzipped(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: STEP })
  let isOver = false
  let failure: Error | undefined
  let ready: Uint8Array[] = []
  // Read at once: a stream that fails drops its buffered bytes.
  gunzip.on('data', (chunk: Uint8Array) => void ready.push(chunk))
  const over = new Promise<void>((resolve) => {
    gunzip.once('end', resolve)
    gunzip.once('error', (error) => {
      failure = error
      resolve()
    })
  }).then(() => void (isOver = true))
  /** What has been unpacked; after the end of the data, bytes that follow it are never taken. */
  const unpack = async (write: (done: () => void) => void): Promise<Uint8Array[]> => {
    await Promise.race([over, new Promise<void>(write)])
    const unpacked = ready
    ready = []
    return unpacked
  }
  let kept: Uint8Array = new Uint8Array()
  for await (const chunk of stream) {
    const bytes = Buffer.concat([kept, chunk])
    const end = Math.max(0, bytes.length - TRAILER)
    kept = bytes.subarray(end)
    for (let at = 0; at < end; at += STEP) {
      const step = bytes.subarray(at, Math.min(end, at + STEP))
      yield* await unpack((done) => void gunzip.write(step, () => done()))
      if (isOver) throw failure ?? bytesAfterEnd()
    }
  }
  gunzip.end(kept)
  yield* await unpack(() => {})
  if (failure !== undefined) throw failure
}

function bytesAfterEnd(): Error {
  return Object.assign(new Error('other bytes follow its end'), { code: 'Z_DATA_ERROR' })
}

async function* unzstd(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  // Loaded when it is needed: most logs are plain or gzip.
  const { Decompress } = await import('fzstd')
  let ready: Uint8Array[] = []
  const decompress = new Decompress((chunk) => void ready.push(chunk))
  const push = (chunk: Uint8Array, isLast: boolean): Error | undefined => {
    try {
      decompress.push(chunk, isLast)
      return undefined
    } catch (error) {
      return Object.assign(new Error((error as Error).message), { code: 'Z_DATA_ERROR' })
    }
  }
  for await (const chunk of stream) {
    const error = push(chunk, false)
    yield* ready
    ready = []
    if (error !== undefined) throw error
  }
  const error = push(new Uint8Array(), true)
  yield* ready
  if (error !== undefined) throw error
}
