// Processes whose wall clock the lab can set, by a small library that is preloaded; their monotonic clock stays what it is.
import { execFile } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isOnPath } from '../../scripts/test-programs.mjs'
import { root } from '../compile.ts'

const execute = promisify(execFile)

/** A wall clock that can be set. */
export interface SettableClock {
  /** The environment of the processes that live by it. */
  readonly env: Record<string, string>
  /** The path of a command that starts a Redis server which lives by it. */
  readonly redisServer: string
  /** Seconds by which it is wrong from now on. */
  set(seconds: number): void
  remove(): void
}

/** Makes a clock, right at first. Needs a C compiler, `cc`, which `npm test` and `npm run faults` install. */
export async function settableClock(): Promise<SettableClock> {
  if (!isOnPath('cc')) throw new Error('the fault lab needs a C compiler: put cc on the PATH')
  const folder = mkdtempSync(join(tmpdir(), 'sluice-clock-'))
  const [shim, file, redisServer] = ['shim.so', 'clock', 'redis-server'].map((name) =>
    join(folder, name),
  ) as [string, string, string]
  const source = join(root, 'test/faults/clock-shim.c')
  await execute('cc', ['-O2', '-shared', '-fPIC', '-o', shim, source])
  const env = { LD_PRELOAD: shim, SLUICE_CLOCK: file }
  const handle = openSync(file, 'w')
  // In place: the file is mapped into processes, which a shorter file would end.
  const set = (seconds: number): void => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(BigInt(seconds))
    writeSync(handle, bytes, 0, 8, 0)
  }
  set(0)
  const settings = Object.entries(env).map(([name, value]) => `${name}='${value}'`)
  writeFileSync(redisServer, `#!/bin/sh\nexec env ${settings.join(' ')} redis-server "$@"\n`)
  chmodSync(redisServer, 0o755)
  const remove = (): void => {
    closeSync(handle)
    rmSync(folder, { recursive: true, force: true })
  }
  return { env, redisServer, set, remove }
}
