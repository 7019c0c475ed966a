// The record of one process: each decided request, in a file of its own, written before the next request is decided.
import { openSync, readFileSync, writeSync } from 'node:fs'

/** One request that was admitted, or refused. It was decided between two instants of the clock that all processes share, in milliseconds. */
export interface Recorded {
  readonly key: number
  readonly earliest: number
  readonly latest: number
  /** Whether the process decided it without the store. */
  readonly isLeased: boolean
  readonly isRefused: boolean
}

const SIZE = 24
/** The bits of an entry. */
const LEASED = 1
const REFUSED = 2

/** Milliseconds of the monotonic clock of this machine: the same for every process. */
export function sharedTime(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** Writes a record. Each entry is with the system when `write` returns, so that SIGKILL loses none. */
export class RecordWriter {
  private readonly file: number
  private readonly entry = Buffer.alloc(SIZE)

  constructor(path: string) {
    this.file = openSync(path, 'a')
  }

  write({ key, earliest, latest, isLeased, isRefused }: Recorded): void {
    const { entry } = this
    entry.writeUInt32LE(key, 0)
    entry.writeUInt32LE((isLeased ? LEASED : 0) + (isRefused ? REFUSED : 0), 4)
    entry.writeDoubleLE(earliest, 8)
    entry.writeDoubleLE(latest, 16)
    writeSync(this.file, entry)
  }
}

/** Reads a record. The last entry of a process that was killed may be cut short; it is left out. */
export function readRecord(path: string): Recorded[] {
  const bytes = readFileSync(path)
  return Array.from({ length: Math.floor(bytes.length / SIZE) }, (_, i) => {
    const at = i * SIZE
    const bits = bytes.readUInt32LE(at + 4)
    return {
      key: bytes.readUInt32LE(at),
      isLeased: (bits & LEASED) !== 0,
      isRefused: (bits & REFUSED) !== 0,
      earliest: bytes.readDoubleLE(at + 8),
      latest: bytes.readDoubleLE(at + 16),
    }
  })
}
