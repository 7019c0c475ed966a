// `sluice serve`: runs the service until a signal ends it.
import type { Millis } from 'sluice'
import {
  bannerText,
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

/** What may be switched off. */
export interface ServeOptions {
  readonly banner: boolean
  readonly watch: boolean
  /** How many processes share the ports; goes before the environment. */
  readonly workers?: string
  /** What is behind the reverse proxy; goes before the environment, and switches the proxy on. */
  readonly upstream?: string
}

/** Serves until SIGINT or SIGTERM and gives the exit code: 0 after a clean end, 1 when it cannot start. */
export async function serve(
  file: string | undefined,
  { banner, watch, workers, upstream }: ServeOptions,
): Promise<number> {
  const environment = {
    ...process.env,
    ...(workers === undefined ? {} : { SLUICE_WORKERS: workers }),
    ...(upstream === undefined ? {} : { SLUICE_PROXY_UPSTREAM: upstream }),
  }
  const untilSignal = catchSignals()
  const read = file === undefined ? undefined : await loadForStart(file, environment)
  const loaded = read ?? ratelimitConfig(environment)
  if (loaded === undefined) {
    say(
      "error: there is no file; accepted: sluice serve sluice.yaml, or RUNTIME_ROOT as for Envoy's own rate limit service",
    )
    return 1
  }
  const { config, problems } = loaded
  if (config === undefined) {
    for (const problem of problems)
      say(`error: ${inWordsOfFlags(problemText(problem), { workers, upstream })}`)
    return 1
  }
  let service: Service | WorkersService
  try {
    const source =
      read !== undefined && file !== undefined
        ? { file, digest: read.digest, environment, ...(watch ? {} : { watch: false as const }) }
        : undefined
    const start = config.workers > 1 ? startWorkers : startService
    service = await start({ config, ...(source && { source }) })
  } catch (error) {
    say(`error: ${reasonOf(error, config)}`)
    return 1
  }
  const ended = untilSignal(service, config.shutdown.delay)
  if (banner) process.stdout.write(bannerText(config, service.listeners))
  const reason = await Promise.race([ended, ...('failed' in service ? [service.failed] : [])])
  if (typeof reason !== 'string') return 0
  say(`error: ${reason}`)
  return 1
}

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const

/**
 * Hears signals from now on; those that come before the service is there are acted on when it is. SIGHUP reads the
 * file again, SIGTERM drains, Ctrl+C ends at once, and a second signal does not wait. Resolves at the end.
 */
function catchSignals(): (service: Service, delay: Millis) => Promise<void> {
  const early: NodeJS.Signals[] = []
  let act = (signal: NodeJS.Signals): void => {
    if (signal !== 'SIGHUP' && early.some((other) => other !== 'SIGHUP')) process.exit(1)
    early.push(signal)
  }
  for (const signal of SIGNALS) process.on(signal, () => act(signal))
  return (service, delay) =>
    new Promise((resolve, reject) => {
      let stopping = false
      act = (signal) => {
        if (signal === 'SIGHUP') {
          void service.reload()
          return
        }
        if (stopping) process.exit(1)
        stopping = true
        service.stop(signal === 'SIGTERM' ? delay : 0).then(resolve, reject)
      }
      for (const signal of early) act(signal)
    })
}

/** What was said by a flag is not to be looked for in the environment. */
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
