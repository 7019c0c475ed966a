// The primary process of a service with several workers: it reads the file, keeps the processes running, passes on
// what changes, and adds up their figures. It takes no request itself.
import { createLimiter, memoryStore, type Millis } from 'sluice'
import type { DomainConfig } from '../envoy/descriptors/domain-config.ts'
import { DomainFiles } from '../envoy/files/domain-files.ts'
import { addFilesMetric } from '../envoy/metrics.ts'
import { pathsOf } from '../envoy/start-envoy.ts'
import { LimiterRegistry } from '../limiters/registry.ts'
import { addProcessMetrics } from '../metrics/process-metrics.ts'
import { MetricRegistry } from '../metrics/registry.ts'
import { Reloader, withProblems, type ReloadResult } from '../reload/reloader.ts'
import { watchFile } from '../reload/watch-file.ts'
import { Health } from '../health/health.ts'
import { createLog } from '../log/log.ts'
import type { Service, ServiceOptions } from '../service/service.ts'
import { Crew } from './crew.ts'
import type { Standing } from './messages.ts'
import { workerConfig } from './worker-config.ts'

/** A service whose processes may all fail. */
export interface WorkersService extends Service {
  /** Resolves with the reason when no worker can be kept running; the service has stopped by then. */
  readonly failed: Promise<string>
}

/** Starts the service in `config.workers` processes; rejects when they cannot start, with nothing left running. */
export async function startWorkers(options: ServiceOptions): Promise<WorkersService> {
  const { config, source } = options
  const log = options.log ?? createLog(config.log)
  const metrics = new MetricRegistry()
  // It takes no traffic itself, and never says that it is ready for some.
  addProcessMetrics(metrics, new Health())

  // Limiters that decide nothing: a policy of which one can be made here can be put in force in every worker.
  const store = memoryStore({ maxKeys: 1 })
  const registry = new LimiterRegistry(config.policies, (policy) =>
    createLimiter({ policy, store }),
  )
  const environment = source?.environment ?? {}
  const reloader =
    source && new Reloader({ ...source, config, environment }, registry, metrics, log)
  const { file, watch } = source ?? {}

  let domains: readonly DomainConfig[] | undefined
  const crew = new Crew({
    log,
    metrics,
    config,
    startMessage: (number, socket) => ({
      type: 'start',
      number,
      config: workerConfig(config),
      policies: registry.current.policies,
      standing: standing(),
      ...(socket !== undefined && { socket }),
      ...(domains && { domains }),
      ...(file !== undefined && { file }),
      ...(watch !== undefined && { watch }),
    }),
    onChange: () => crew.tellWorkers({ type: 'standing', standing: standing() }),
  })
  const standing = (): Standing => ({
    reload: withProblems(
      reloader?.status ?? { generation: registry.current.generation },
      descriptors?.problems,
    ),
    workers: { wanted: config.workers, ready: crew.ready },
  })
  const swap = (loaded: readonly DomainConfig[]): void => {
    domains = loaded
    crew.tellWorkers({ type: 'domains', domains: loaded })
  }
  const { envoy } = config
  const descriptors =
    envoy !== undefined && envoy.files.length > 0
      ? new DomainFiles(pathsOf(envoy.files, file), envoy, { swap }, log)
      : undefined
  if (descriptors !== undefined) {
    addFilesMetric(metrics, descriptors)
    descriptors.onProblems = () => crew.tellWorkers({ type: 'standing', standing: standing() })
  }
  const close = (): void => {
    descriptors?.close()
    watcher?.close()
    store.close()
  }
  let watcher: ReturnType<typeof watchFile> | undefined
  let listeners: Service['listeners']
  try {
    listeners = await crew.start()
  } catch (error) {
    close()
    throw error
  }

  const reload = async (): Promise<ReloadResult> => {
    const result = (await reloader?.reload()) ?? 'unchanged'
    const { policies } = registry.current
    if (result === 'applied') crew.tellWorkers({ type: 'policies', policies, standing: standing() })
    else if (result === 'failed') crew.tellWorkers({ type: 'standing', standing: standing() })
    return result
  }
  if (source !== undefined && watch !== false)
    watcher = watchFile(source.file, () => void reload(), watch)
  if (watch !== false) descriptors?.watch(watch)

  const stop = async (delay: Millis): Promise<void> => {
    close()
    log.info({ delay, workers: config.workers }, 'draining')
    await crew.stop(delay)
    log.info({}, 'stopped')
  }
  let stopping: Promise<void> | undefined
  return {
    listeners,
    reload: async () => {
      descriptors?.reload()
      crew.tellWorkers({ type: 'reload' })
      return reload()
    },
    stop: (delay = 0) => (stopping ??= stop(delay)),
    failed: crew.failed.then(async (reason) => {
      await (stopping ??= stop(0))
      return reason
    }),
  }
}
