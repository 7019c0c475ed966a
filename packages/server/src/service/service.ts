// Starts and ends the service: store, limiters, listeners and reloads, in that order and back.
import { helpAt, type Millis } from 'sluice'
import { hasAdmin, startAdmin } from '../admin/start-admin.ts'
import { authRoutes } from '../auth/auth-routes.ts'
import type { Config } from '../config/config.ts'
import type { Environment } from '../config/environment.ts'
import { openControls } from '../controls/open-controls.ts'
import { openDebug } from '../envoy/debug-listener.ts'
import { debugRoutes } from '../envoy/debug-routes.ts'
import { hasEnvoy, startEnvoy, type StartedEnvoy } from '../envoy/start-envoy.ts'
import { descriptorLimit, descriptorWarning } from '../net/file-descriptors.ts'
import { openHttp, type PortState } from '../net/http-listener.ts'
import { createHandler } from '../http/routes.ts'
import type { DecisionSurroundings } from '../limiters/decide-options.ts'
import { limiterMaker } from '../limiters/make-limiter.ts'
import { DecisionMetrics } from '../metrics/decision-metrics.ts'
import { LimiterRegistry } from '../limiters/registry.ts'
import { Fleet } from '../observe/fleet.ts'
import { Observer } from '../observe/observer.ts'
import { thresholdReports } from '../observe/threshold-reports.ts'
import { Webhooks } from '../observe/webhooks.ts'
import { RefusalLog } from '../observe/refusal-log.ts'
import { RecentTraffic } from '../observe/recent-traffic.ts'
import { addProcessMetrics } from '../metrics/process-metrics.ts'
import { MetricRegistry } from '../metrics/registry.ts'
import { addRedisMetrics } from '../store/redis-metrics.ts'
import { addMemoryMetrics, StoreMetrics } from '../metrics/store-metrics.ts'
import { addLeaseMetrics, HeldUnits } from '../metrics/units-out.ts'
import { Reloader, withProblems, type ReloadResult } from '../reload/reloader.ts'
import { watchFile, type WatchOptions } from '../reload/watch-file.ts'
import { openProxy } from '../upstream/proxy-listener.ts'
import { Certificates } from '../tls/certificates.ts'
import type { WorkerContext } from './worker-context.ts'
import { Health } from '../health/health.ts'
import type { Listener } from '../net/listener.ts'
import { describePolicy } from '../review/describe.ts'
import {
  plainWarnings,
  WarningLog,
  warningsAfterReload,
  type LoggedWarning,
} from '../review/warning-log.ts'
import type { ServiceContext } from '../limiters/limiters.ts'
import { createLog, flushLogs, type Log } from '../log/log.ts'
import { guardedStore, openStore } from '../store/open-store.ts'

/** What the service is started with. */
export interface ServiceOptions {
  readonly config: Config
  /** Where the configuration was read from, to be read again when it changes; `digest` is of its text then. */
  readonly source?: {
    readonly file: string
    readonly digest: string
    readonly environment?: Environment
    readonly watch?: WatchOptions | false
  }
  /** What was found in the file that was read, to be logged. Default: what the configuration shows by itself. */
  readonly warnings?: readonly LoggedWarning[]
  /** Default: JSON lines on standard error. */
  readonly log?: Log
  /** Only for one worker of several. */
  readonly worker?: WorkerContext
}

/** A running service. */
export interface Service {
  readonly listeners: readonly Pick<Listener, 'name' | 'url'>[]
  /** Reads the file again now; nothing happens without one. */
  readonly reload: () => Promise<ReloadResult>
  /**
   * Says "not ready", goes on answering for `delay`, then closes the ports, lets begun work finish and closes the
   * store. The ports stay open until `mayClose` resolves, too. The second call waits for the first.
   */
  readonly stop: (delay?: Millis, mayClose?: Promise<void>) => Promise<void>
}

/**
 * Milliseconds for which a starting service waits for its store before it reports that it serves. An instance that
 * takes traffic earlier answers from its own counts, and a fleet that starts does so many times over.
 */
const STORE_WAIT: Millis = 1000

/** Starts the service; rejects when a port cannot be opened, with nothing left open. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, source, worker } = options
  const log = options.log ?? createLog(config.log)
  const fewDescriptors = descriptorWarning(config.listeners, descriptorLimit())
  if (fewDescriptors !== undefined) log.warn({ code: 'few-descriptors' }, fewDescriptors)
  const metrics = new MetricRegistry()
  const health = new Health()
  addProcessMetrics(metrics, health)
  const opened = openStore(config.store, log, config.failure)
  if (opened.memory !== undefined) addMemoryMetrics(metrics, opened.memory)
  const { redis, server, leases } = opened
  if (leases !== undefined) addLeaseMetrics(metrics, leases)
  if (server !== undefined) addRedisMetrics(metrics, server)
  const isConnected = () => redis === undefined || redis.client.status === 'ready'
  const storeMetrics = new StoreMetrics(metrics, log, isConnected)
  const store = guardedStore(opened.store, config.failure, storeMetrics.onEvent)
  const observer = new Observer()
  const refusalLog = new RefusalLog(log)
  observer.onFirstRefusal = refusalLog.note
  observer.onMinute = refusalLog.endMinute
  const fleet = new Fleet(observer, redis, log)
  const recent = new RecentTraffic()
  const webhooks = new Webhooks(config.webhooks, metrics, log)
  const controls = openControls(opened, hasAdmin(config), config.proxy.ipv6Prefix, metrics, log)
  const surroundings: DecisionSurroundings = {
    store,
    decisions: new DecisionMetrics(
      metrics,
      (policy, rule) => observer.membersOf(policy, rule),
      (policy, rule, missing) =>
        log.warn(
          { policy, rule, missing, help: helpAt('reference/service/config', 'unset-attribute') },
          `rule ${rule} was skipped in each of its first requests: no request had the attribute ${missing}`,
        ),
    ),
    observer,
    onWarning: (policy, { message, ...fields }) => log.warn({ policy, ...fields }, message),
    held: new HeldUnits(metrics, undefined, leases),
    recent: hasAdmin(config) ? recent : undefined,
    blocks: controls?.live,
    thresholds: thresholdReports(webhooks, metrics, log),
    onRules: (name) => storeMetrics.addPolicy(name),
    storeDuration: storeMetrics.duration,
  }
  const limiters = new LimiterRegistry(
    config.policies,
    limiterMaker(surroundings),
    controls && ((policies) => controls.adjust(policies)),
    worker?.generation,
  )
  const { decisions } = surroundings
  decisions.retain('policies', limiters.current.policies)
  limiters.onChange = (policies) => decisions.retain('policies', policies)
  if (controls !== undefined) controls.onChange = () => limiters.refresh()
  const environment = source?.environment ?? {}
  const reloader =
    source && worker === undefined
      ? new Reloader({ ...source, config, environment }, limiters, metrics, log)
      : undefined
  // With several workers, the primary logs them.
  if (worker === undefined) logWarnings(options, log, reloader)
  const { file, watch } = source ?? {}
  const certificates = new Certificates({ file, watch, metrics, log })
  const context: ServiceContext = { limiters, health, metrics, certificates, log }

  const listeners: Listener[] = []
  let envoy: StartedEnvoy | undefined
  let domains = worker?.domains
  worker?.onStarted({
    metrics,
    swapPolicies: (policies) => void limiters.swap(policies),
    swapDomains: (others) => {
      domains = others
      envoy?.swap(others)
    },
  })
  const closeAll = async (patience: Millis): Promise<void> => {
    await Promise.all(listeners.map((listener) => listener.close(patience)))
    observer.close()
    webhooks.close()
    fleet.close()
    controls?.live.close()
    certificates.close()
    await limiters.close()
    await store.close()
    await opened.close()
  }
  try {
    observer.start()
    fleet.start()
    await controls?.live.start()
    const detail = () => ({
      ...(worker?.detail() ??
        withProblems(
          reloader?.status ?? { generation: limiters.current.generation },
          envoy?.problems(),
        )),
      ...(storeMetrics.isDegraded ? { degraded: true } : {}),
    })
    const metricsText = (names?: ReadonlySet<string>) =>
      worker?.metricsText(names) ?? metrics.text(names)
    const { http } = config.listeners
    const debug = hasEnvoy(config) ? debugRoutes(health, () => envoy?.domains) : []
    const makeHandler = (port: PortState) =>
      createHandler({ ...context, detail, metricsText, port }, config, [
        ...authRoutes(context, config),
        ...debug,
      ])
    listeners.push(await openHttp(makeHandler, http, context))
    const startedWith = domains
    envoy = await startEnvoy(config, { context, surroundings, file, watch, domains })
    if (envoy !== undefined) listeners.push(envoy.listener)
    if (domains !== undefined && domains !== startedWith) envoy?.swap(domains)
    const debugging = await openDebug(config, context, debug)
    if (debugging !== undefined) listeners.push(debugging)
    const { proxy } = config.listeners
    if (proxy !== undefined) listeners.push(await openProxy(proxy, config, context, file))
    const admin = await startAdmin(config, {
      context,
      controls,
      opened,
      guarded: store,
      domains: () => envoy?.domains.list() ?? [],
      fleet,
      storeMetrics,
      recent,
      metricsText,
      detail,
      describe: describePolicy,
      file,
      watch,
    })
    if (admin !== undefined) listeners.push(admin)
  } catch (error) {
    await closeAll(0)
    throw error
  }

  const watcher =
    source && reloader && source.watch !== false
      ? watchFile(source.file, () => void reloader.reload(), source.watch)
      : undefined
  await opened.ready(STORE_WAIT)
  health.become('serving')
  for (const { name, url } of listeners) log.info({ listener: name, url }, 'listening')

  const stop = async (delay: Millis, mayClose?: Promise<void>): Promise<void> => {
    watcher?.close()
    reloader?.close()
    health.become('draining')
    log.info({ delay }, 'draining')
    await Promise.all([pause(delay), mayClose])
    await closeAll(config.shutdown.patience)
    log.info({}, 'stopped')
    await flushLogs()
  }
  let stopping: Promise<void> | undefined
  return {
    listeners: listeners.map(({ name, url }) => ({ name, url })),
    reload: async () =>
      worse(envoy?.reload(), await certificates.reload(), await reloader?.reload()),
    stop: (delay = 0, mayClose) => (stopping ??= stop(delay, mayClose)),
  }
}

/** Logs the warnings about the configuration, and after each reload those that are new. */
export function logWarnings(
  { config, source, warnings }: Pick<ServiceOptions, 'config' | 'source' | 'warnings'>,
  log: Log,
  reloader: Reloader | undefined,
): void {
  const warningLog = new WarningLog(log)
  warningLog.report(warnings ?? plainWarnings(config))
  if (reloader === undefined || source === undefined) return
  reloader.onApplied = (loaded) =>
    warningLog.report(warningsAfterReload(source.file, config, loaded))
}

/** The worst of several reload results. */
function worse(...results: readonly (ReloadResult | undefined)[]): ReloadResult {
  if (results.includes('failed')) return 'failed'
  return results.includes('applied') ? 'applied' : 'unchanged'
}

function pause(millis: Millis): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, millis))
}
