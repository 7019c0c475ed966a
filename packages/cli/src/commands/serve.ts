// `sluice serve`: runs the service until a signal ends it.
import { randomBytes } from 'node:crypto'
import { helpAt, type Millis } from 'sluice'
import {
  bannerText,
  ignoredVariables,
  loadForStart,
  problemText,
  ratelimitConfig,
  startService,
  startWorkers,
  type Config,
  type ListenerConfig,
  type Service,
  type WorkersService,
} from '@sluice/server'
import { sendDemoTraffic } from '../demo/demo-traffic.ts'

/** The options of the command. */
export interface ServeOptions {
  readonly banner: boolean
  readonly watch: boolean
  /** The number of processes that share the ports; overrides the environment. */
  readonly workers?: string
  /** The server behind the reverse proxy; overrides the environment, and switches the proxy on. */
  readonly upstream?: string
  /** Switch the console on, with a token of its own when there is none, and print a link that signs in once. */
  readonly console?: boolean
  /** Send made-up traffic to the service, as a demonstration. */
  readonly demo?: boolean
}

/** Serves until SIGINT or SIGTERM; returns the exit code: 0 after a clean stop, 1 when it cannot start. */
export async function serve(
  file: string | undefined,
  { banner, watch, workers, upstream, console: withConsole = false, demo = false }: ServeOptions,
): Promise<number> {
  const environment = {
    ...process.env,
    ...(workers === undefined ? {} : { SLUICE_WORKERS: workers }),
    ...(upstream === undefined ? {} : { SLUICE_PROXY_UPSTREAM: upstream }),
    ...(withConsole && process.env['SLUICE_ADMIN_TOKEN'] === undefined
      ? { SLUICE_ADMIN_TOKEN: randomBytes(32).toString('base64url') }
      : {}),
  }
  const untilSignal = catchSignals()
  const read = file === undefined ? undefined : await loadForStart(file, environment)
  const loaded = read ?? ratelimitConfig(environment)
  if (loaded === undefined) {
    say(
      "error: no file is given; accepted: sluice serve sluice.yaml, or RUNTIME_ROOT as for Envoy's own rate limit service",
    )
    return 1
  }
  const { config, problems } = loaded
  if (config === undefined) {
    for (const problem of problems)
      say(`error: ${inWordsOfFlags(problemText(problem), { workers, upstream })}`)
    return 1
  }
  const ignored = read === undefined ? ignoredVariables(environment) : []
  if (ignored.length > 0)
    say(
      `warning: ${ignored.join(', ')}: no effect here; see ${helpAt('guide/coming-from/envoy-ratelimit', 'every-setting')}`,
    )
  let service: Service | WorkersService
  try {
    const source =
      read !== undefined && file !== undefined
        ? { file, digest: read.digest, environment, ...(watch ? {} : { watch: false as const }) }
        : undefined
    const start = config.workers > 1 ? startWorkers : startService
    const warnings = read?.warnings
    service = await start({ config, ...(source && { source }), ...(warnings && { warnings }) })
  } catch (error) {
    say(`error: ${reasonOf(error, config)}`)
    return 1
  }
  const ended = untilSignal(service, config.shutdown.delay)
  const signInAt = withConsole ? Date.now() : undefined
  if (banner) process.stdout.write(bannerText(config, service.listeners, signInAt))
  if (demo) sendDemoTraffic(config.policies, service.listeners)
  const reason = await Promise.race([ended, ...('failed' in service ? [service.failed] : [])])
  if (typeof reason !== 'string') return 0
  say(`error: ${reason}`)
  return 1
}

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const

/**
 * Catches signals from now on; those that arrive before the service has started take effect then. SIGHUP reloads the
 * file, SIGTERM drains, Ctrl+C stops at once, and a second signal does not wait. Resolves when the service has stopped.
 */
function catchSignals(): (service: Service, delay: Millis) => Promise<void> {
  const earlySignals: NodeJS.Signals[] = []
  let handleSignal = (signal: NodeJS.Signals): void => {
    if (signal !== 'SIGHUP' && earlySignals.some((other) => other !== 'SIGHUP')) process.exit(1)
    earlySignals.push(signal)
  }
  for (const signal of SIGNALS) process.on(signal, () => handleSignal(signal))
  return (service, delay) =>
    new Promise((resolve, reject) => {
      let stopping = false
      handleSignal = (signal) => {
        if (signal === 'SIGHUP') {
          void service.reload()
          return
        }
        if (stopping) process.exit(1)
        stopping = true
        service.stop(signal === 'SIGTERM' ? delay : 0).then(resolve, reject)
      }
      for (const signal of earlySignals) handleSignal(signal)
    })
}

/** Names the flag instead of the environment variable when the value came from the flag. */
function inWordsOfFlags(
  text: string,
  { workers, upstream }: Record<'workers' | 'upstream', string | undefined>,
): string {
  return text
    .replace(/^environment: SLUICE_WORKERS /, workers === undefined ? '$&' : '--workers ')
    .replace(/^environment: SLUICE_PROXY_UPSTREAM /, upstream === undefined ? '$&' : '--upstream ')
}

function reasonOf(error: unknown, { listeners }: Config): string {
  const { code, address, port, message } = error as NodeJS.ErrnoException & {
    address?: string
    port?: number
  }
  if (port === undefined) return message
  if (code === 'EADDRINUSE') {
    const names = Object.entries(listeners) as [string, ListenerConfig][]
    const name = names.find(([, listener]) => listener.port === port)?.[0] ?? 'http'
    return `cannot listen on ${address}:${port}: it is in use; choose another port, such as SLUICE_${name.toUpperCase()}_PORT=${port + 1}`
  }
  if (code === 'EACCES') return `cannot listen on ${address}:${port}: it is not permitted`
  return message
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
