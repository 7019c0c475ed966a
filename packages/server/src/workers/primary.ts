// The primary process of a service with several workers: reads the file, keeps the workers running, sends them every
// change and adds up their metrics. It serves no request itself.
import { createLimiter, memoryStore, type Millis } from 'sluice'
import type { DomainConfig } from '../envoy/descriptors/domain-config.ts'
import { DomainFiles } from '../envoy/files/domain-files.ts'
import { addFilesMetric } from '../envoy/metrics.ts'
import { pathsOf } from '../envoy/start-envoy.ts'
import { LimiterRegistry } from '../limiters/registry.ts'
import { addProcessMetrics } from '../metrics/process-metrics.ts'
import { MetricRegistry } from '../metrics/registry.ts'
import { Reloader, withProblems } from '../reload/reloader.ts'
import { watchFile } from '../reload/watch-file.ts'
import { Health } from '../health/health.ts'
import { createLog, flushLogs } from '../log/log.ts'
import { logWarnings, type Service, type ServiceOptions } from '../service/service.ts'
import type { ServiceStatus } from './messages.ts'
import { Supervisor } from './supervisor.ts'
import { workerConfig } from './worker-config.ts'

/** A service of several processes. */
export interface WorkersService extends Service {
  /** Resolves with the reason when no worker can be kept running; the service has stopped by then. */
  readonly failed: Promise<string>
}

/** Starts the service in `config.workers` processes; rejects when they cannot start, with nothing left running. */
export async function startWorkers(options: ServiceOptions): Promise<WorkersService> {
  const { config, source } = options
  const log = options.log ?? createLog(config.log)
  const metrics = new MetricRegistry()
  // The primary serves no traffic, so it never becomes ready.
  addProcessMetrics(metrics, new Health())

  // These limiters decide nothing. They show that every worker can make one of a changed policy.
  const store = memoryStore({ maxKeys: 1 })
  const registry = new LimiterRegistry(config.policies, (policy) =>
    createLimiter({ policy, store }),
  )
  const environment = source?.environment ?? {}
  const reloader =
    source && new Reloader({ ...source, config, environment }, registry, metrics, log)
  logWarnings(options, log, reloader)
  const { file, watch } = source ?? {}

  let domains: readonly DomainConfig[] | undefined
  const supervisor = new Supervisor({
    log,
    metrics,
    config,
    startMessage: (number) => ({
      type: 'start',
      number,
      config: workerConfig(config),
      policies: registry.current.policies,
      status: status(),
      ...(domains && { domains }),
      ...(file !== undefined && { file }),
      ...(watch !== undefined && { watch }),
    }),
    onChange: () => supervisor.broadcast({ type: 'status', status: status() }),
  })
  const status = (): ServiceStatus => ({
    reload: withProblems(
      reloader?.status ?? { generation: registry.current.generation },
      descriptors?.problems,
    ),
    workers: { wanted: config.workers, ready: supervisor.ready },
  })
  const swap = (loaded: readonly DomainConfig[]): void => {
    domains = loaded
    supervisor.broadcast({ type: 'domains', domains: loaded })
  }
  const { envoy } = config
  const descriptors =
    envoy !== undefined && envoy.files.length > 0
      ? new DomainFiles(pathsOf(envoy.files, file), envoy, { swap }, log)
      : undefined
  if (descriptors !== undefined) {
    addFilesMetric(metrics, descriptors)
    descriptors.onProblems = () => supervisor.broadcast({ type: 'status', status: status() })
  }
  const close = (): void => {
    descriptors?.close()
    watcher?.close()
    reloader?.close()
    store.close()
  }
  let watcher: ReturnType<typeof watchFile> | undefined
  let listeners: Service['listeners']
  try {
    listeners = await supervisor.start()
  } catch (error) {
    close()
    throw error
  }

  if (reloader !== undefined)
    reloader.onReload = (result) => {
      const { policies } = registry.current
      if (result === 'applied')
        supervisor.broadcast({ type: 'policies', policies, status: status() })
      else if (result === 'failed') supervisor.broadcast({ type: 'status', status: status() })
    }
  if (source !== undefined && watch !== false)
    watcher = watchFile(source.file, () => void reloader?.reload(), watch)
  if (watch !== false) descriptors?.watch(watch)

  const stop = async (delay: Millis): Promise<void> => {
    close()
    log.info({ delay, workers: config.workers }, 'draining')
    await supervisor.stop(delay)
    log.info({}, 'stopped')
    await flushLogs()
  }
  let stopping: Promise<void> | undefined
  return {
    listeners,
    reload: async () => {
      descriptors?.reload()
      supervisor.broadcast({ type: 'reload' })
      return (await reloader?.reload()) ?? 'unchanged'
    },
    stop: (delay = 0) => (stopping ??= stop(delay)),
    failed: supervisor.failed.then(async (reason) => {
      await (stopping ??= stop(0))
      return reason
    }),
  }
}
