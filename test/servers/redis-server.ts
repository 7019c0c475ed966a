// Starts one real Redis or Valkey server on loopback for a test, and lets the test kill, pause and restart it.
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandOf } from './binaries.ts'
import { createGuard, type GuardedProcess, spawnGuarded } from './guarded-process.ts'
import { freePort } from './ports.ts'
import { type Address, ask, type Reply } from './resp.ts'
import { until } from './until.ts'

export interface RedisOptions {
  /** Further arguments, e.g. `['--appendonly', 'yes']`. */
  readonly args?: string[]
  /** Lines of the server's configuration file, when it needs one. */
  readonly config?: string
  readonly port?: number
  /** What to start: the `redis-server` or `valkey-server` of this machine, or the path of another one. */
  readonly binary?: string
  /** Where the server keeps its data. Without it a temporary folder is made, and removed by `stop()`. */
  readonly dir?: string
}

export interface RedisServer extends Address {
  readonly url: string
  /** Of the running process: another one after `restart()`. */
  readonly pid: number
  /** Ends the server in whatever state it is. Does nothing the second time. */
  readonly stop: () => Promise<void>
  /** SIGKILL ends it, SIGSTOP makes it hang with its connections open, SIGCONT lets it go on. */
  readonly kill: (signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT') => void
  /** Ends the server if it runs and starts it again: same port, same folder, and the same arguments unless new ones are given. */
  readonly restart: (args?: string[]) => Promise<void>
  /** Sends one command over a connection of its own and gives the parsed reply; rejects with the server's error text. */
  readonly cli: <T extends Reply = string>(...command: string[]) => Promise<T>
  /** What the server has logged since it was first started. */
  readonly log: () => string
}

const startTimeout = 15_000
const endTimeout = 3000

/** Starts a server and resolves when it answers. It ends with `stop()`, and at the latest with this process. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await freePort())
    try {
      return await startAt(port, options)
    } catch (error) {
      const taken = options.port === undefined && /Address already in use/.test(String(error))
      if (!taken || attempt === 5) throw error
    }
  }
}

async function startAt(port: number, options: RedisOptions): Promise<RedisServer> {
  const address = { host: '127.0.0.1', port }
  const command = await commandOf(options.binary ?? 'redis')
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'sluice-redis-'))
  const logFile = join(dir, `server-${port}.log`)
  const configFile = join(dir, `server-${port}.conf`)
  const guard = createGuard(options.dir ? undefined : dir)
  let args = options.args ?? []
  let server: GuardedProcess | undefined
  let stopping: Promise<void> | undefined
  let lastLog = ''

  mkdirSync(dir, { recursive: true })
  if (options.config !== undefined) writeFileSync(configFile, options.config)

  const send = (words: string[]) => {
    const password = args[args.indexOf('--requirepass') + 1]
    const auth = args.includes('--requirepass') && password ? [['AUTH', password]] : []
    return ask(address, [...auth, words])
  }

  async function start() {
    const config = options.config === undefined ? [] : [configFile]
    const basics = ['--bind', address.host, '--port', `${port}`, '--dir', dir, '--save', '']
    // A replica that attaches would otherwise wait 5 s for others to come along.
    const all = [...config, ...basics, '--repl-diskless-sync-delay', '0', ...args]
    const started = await spawnGuarded(guard, command, all, { cwd: dir, logFile }).catch(fail)
    server = started
    const ready = until('the server answers', startTimeout, async () => {
      // Ended: stop asking. Whether it did well is seen below.
      if (started.end) return true
      await send(['PING'])
      // A server of somebody else may have taken the port in the meantime.
      return String(await send(['INFO', 'server'])).includes(`process_id:${started.pid}\r`)
    })
    await ready.catch(fail)
    if (started.end) fail(new Error(started.end))
  }

  function fail(cause: unknown): never {
    const tail = log().split('\n').slice(-40).join('\n')
    const message = `${command} did not start at port ${port} (${String(cause)}); its log ends with:`
    throw new Error(`${message}\n${tail}`, { cause })
  }

  /** Politely first, so that the data of a folder that stays are complete. */
  async function end(signals: NodeJS.Signals[]) {
    for (const signal of signals) {
      if (!server || server.end) return
      server.kill(signal)
      // A paused server takes note of the signal only when it goes on.
      server.kill('SIGCONT')
      await server.waitForEnd(endTimeout)
    }
  }

  async function stop() {
    await end(options.dir ? ['SIGTERM', 'SIGKILL'] : ['SIGKILL'])
    lastLog = log()
    await guard.release()
  }

  function log() {
    try {
      return readFileSync(logFile, 'utf8')
    } catch {
      return lastLog
    }
  }

  try {
    await start()
  } catch (error) {
    await stop()
    throw error
  }

  return {
    ...address,
    url: `redis://${address.host}:${port}`,
    get pid() {
      return server?.pid ?? 0
    },
    stop: () => (stopping ??= stop()),
    kill: (signal) => server?.kill(signal),
    async restart(newArgs = args) {
      if (stopping) throw new Error('the server was stopped and its data are gone')
      await end(['SIGTERM', 'SIGKILL'])
      args = newArgs
      await start()
    },
    cli: async <T extends Reply>(...words: string[]) => (await send(words)) as T,
    log,
  }
}
