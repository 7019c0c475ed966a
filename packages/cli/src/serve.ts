// `sluice serve`: runs the service until a signal ends it.
import type { Millis } from 'sluice'
import {
  bannerText,
  loadForStart,
  problemText,
  ratelimitConfig,
  startService,
  type Service,
} from '@sluice/server'

/** What may be switched off. */
export interface ServeOptions {
  readonly banner: boolean
  readonly watch: boolean
}

/** Serves until SIGINT or SIGTERM and gives the exit code: 0 after a clean end, 1 when it cannot start. */
export async function serve(
  file: string | undefined,
  { banner, watch }: ServeOptions,
): Promise<number> {
  const environment = process.env
  const loaded =
    file === undefined ? ratelimitConfig(environment) : await loadForStart(file, environment)
  if (loaded === undefined) {
    say(
      "error: there is no file; accepted: sluice serve sluice.yaml, or RUNTIME_ROOT as for Envoy's own rate limit service",
    )
    return 1
  }
  const { config, problems } = loaded
  if (config === undefined) {
    for (const problem of problems) say(`error: ${problemText(problem)}`)
    return 1
  }
  let service: Service
  try {
    const source =
      'digest' in loaded && file !== undefined
        ? { file, digest: loaded.digest, environment, ...(watch ? {} : { watch: false as const }) }
        : undefined
    service = await startService({ config, ...(source && { source }) })
  } catch (error) {
    say(`error: ${reasonOf(error)}`)
    return 1
  }
  const ended = untilSignal(service, config.shutdown.delay)
  if (banner) process.stdout.write(bannerText(config, service.listeners))
  await ended
  return 0
}

/** SIGHUP reads the file again, SIGTERM drains, Ctrl+C ends at once, and a second signal does not wait. */
function untilSignal(service: Service, delay: Millis): Promise<void> {
  process.on('SIGHUP', () => void service.reload())
  return new Promise((resolve, reject) => {
    let stopping = false
    const stop = (wait: Millis) => (): void => {
      if (stopping) process.exit(1)
      stopping = true
      service.stop(wait).then(resolve, reject)
    }
    process.on('SIGTERM', stop(delay))
    process.on('SIGINT', stop(0))
  })
}

function reasonOf(error: unknown): string {
  const { code, address, port, message } = error as NodeJS.ErrnoException & {
    address?: string
    port?: number
  }
  if (code === 'EADDRINUSE')
    return `cannot listen on ${address}:${port}: it is in use; choose another port, such as SLUICE_HTTP_PORT=${(port ?? 0) + 1}`
  if (code === 'EACCES') return `cannot listen on ${address}:${port}: it is not permitted`
  return message
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
