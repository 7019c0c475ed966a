// Runs the built command with several workers on a Redis, and finds its processes by what it logs.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { freePort } from '../../../../test/servers/ports.ts'
import { until } from '../../../../test/servers/until.ts'

const main = fileURLToPath(new URL('../../../cli/dist/main.js', import.meta.url))

/** A line of the log. */
interface Line {
  readonly msg: string
  readonly worker?: number
  readonly pid?: number
  readonly [field: string]: unknown
}

interface Answer {
  readonly allowed: boolean
  readonly degraded: boolean
  readonly reason: string
}

/** A running service of several processes. */
export interface RunningWorkers {
  readonly url: string
  readonly file: string
  readonly pid: number
  readonly ended: Promise<readonly [number | null, string]>
  /** What was logged so far. */
  readonly logged: () => readonly Line[]
  readonly kill: (signal: NodeJS.Signals) => void
  /** The process ids of the workers that are ready, by number. */
  readonly pids: () => ReadonlyMap<number, number>
  /** A request on a connection of its own, so that any worker may get it. */
  readonly post: (path: string, body: unknown) => Promise<Answer>
  readonly get: (path: string) => Promise<{ status: number; text: string }>
}

/** Starts the service; it ends with the test at the latest. */
export async function runWorkers(
  workers: number,
  config: object,
  env: Record<string, string> = {},
): Promise<RunningWorkers> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-workers-'))
  const file = join(folder, 'sluice.json')
  writeFileSync(file, JSON.stringify(config))
  const child = spawn(process.execPath, [main, 'serve', '--workers', String(workers), file], {
    env: {
      ...process.env,
      REDIS_URL: '',
      // Not one that the system chooses: it would choose another when no worker is left.
      SLUICE_HTTP_PORT: String(await freePort()),
      SLUICE_SHUTDOWN_DELAY: '200ms',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const ended = once(child, 'close').then(([code]) => [code as number | null, errors] as const)
  const isOver = ended.then(() => true)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await isOver
    rmSync(folder, { recursive: true, force: true })
  })
  const url = await Promise.race([
    until('it listens', 60_000, async () =>
      printed.includes('Ctrl+C') ? /http on (http:\S+)/.exec(printed)?.[1] : undefined,
    ),
    ended.then(([code]) => {
      throw new Error(`it ended with exit code ${code}: ${errors}`)
    }),
  ])
  const logged = (): readonly Line[] =>
    errors
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as Line)
  const own = { connection: 'close' }
  return {
    url,
    file,
    pid: child.pid!,
    ended,
    logged,
    kill: (signal) => void child.kill(signal),
    pids: () => {
      const ready = logged().filter(({ msg }) => msg === 'the worker is ready')
      return new Map(ready.map(({ worker, pid }) => [worker!, pid!]))
    },
    post: async (path, body) => {
      const headers = { ...own, 'content-type': 'application/json' }
      const text = JSON.stringify(body)
      const response = await fetch(url + path, { method: 'POST', headers, body: text })
      return (await response.json()) as Answer
    },
    get: async (path) => {
      const response = await fetch(url + path, { headers: own })
      return { status: response.status, text: await response.text() }
    },
  }
}

/** Whether a process runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** The processes that a process has started, as Linux tells. */
export function childrenOf(pid: number): readonly number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    return text.trim().split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

/** Kills a process, if it is still there. */
export function kill(pid: number): void {
  if (isAlive(pid)) process.kill(pid, 'SIGKILL')
}
