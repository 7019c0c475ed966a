// Starts the admin API within the service: tokens, audit, views and changes, on a port of their own.
import { dirname, resolve } from 'node:path'
import type { Policy, Store } from 'sluice'
import { type Config, proxiedPolicy } from '../config/config.ts'
import type { ServiceControls } from '../controls/open-controls.ts'
import { openHttp, type PortState } from '../net/http-listener.ts'
import type { Fleet } from '../observe/fleet.ts'
import type { RecentTraffic } from '../observe/recent-traffic.ts'
import type { StoreMetrics } from '../metrics/store-metrics.ts'
import type { WatchOptions } from '../reload/watch-file.ts'
import type { Listener } from '../net/listener.ts'
import type { CountedDomain } from '../limiters/counted-domains.ts'
import type { ServiceContext } from '../limiters/limiters.ts'
import { RepeatedLog } from '../log/repeated-log.ts'
import type { OpenStore } from '../store/open-store.ts'
import { Attempts } from './attempts.ts'
import { Audit } from './audit.ts'
import { linkClaims } from './console/link-claims.ts'
import { startConsole, type StartedConsole } from './console/start-console.ts'
import { changes } from './changes.ts'
import { Inspectors } from './keys/inspectors.ts'
import { offenders } from './seen/top-keys.ts'
import { adminHandler } from './routes.ts'
import { TokenRing } from './token-ring.ts'
import { views, type ViewOptions } from './views.ts'

/** What the service provides. */
export interface StartAdminOptions {
  readonly context: ServiceContext
  readonly controls: ServiceControls | undefined
  readonly opened: OpenStore
  /** The store that answers also while a remote one cannot. */
  readonly guarded: Store
  /** The domains of descriptors in force. */
  readonly domains: () => readonly CountedDomain[]
  readonly fleet: Fleet
  readonly storeMetrics: StoreMetrics
  readonly recent: RecentTraffic
  /** The metrics of all processes of the service as text. */
  readonly metricsText: (names?: ReadonlySet<string>) => string | Promise<string>
  /** What `/readyz` shows. */
  readonly detail: () => object
  /** Policies in words. */
  readonly describe: (policy: Policy) => readonly string[]
  /** The configuration's file; relative paths start at its folder. */
  readonly file?: string | undefined
  readonly watch?: WatchOptions | false | undefined
}

/** Whether the configuration switches the admin API on: it names a token, or a file of tokens. */
export function hasAdmin({ listeners: { admin } }: Config): boolean {
  return admin !== undefined && (admin.tokenDigest !== undefined || admin.tokenFile !== undefined)
}

/** Opens the port; nothing without a token. Rejects when the port cannot be opened or the tokens cannot be read. */
export async function startAdmin(
  config: Config,
  options: StartAdminOptions,
): Promise<Listener | undefined> {
  const { context, controls, opened, fleet, storeMetrics } = options
  const { log, metrics } = context
  const { admin } = config.listeners
  if (admin === undefined) return undefined
  if (!hasAdmin(config) || controls === undefined) {
    const accepted = 'SLUICE_ADMIN_TOKEN or listeners.admin.tokenFile'
    log.warn({ accepted }, 'the admin API is off: there is no token')
    return undefined
  }
  const resolveBesideConfig = (path: string | undefined): string | undefined =>
    path === undefined || options.file === undefined ? path : resolve(dirname(options.file), path)
  const tokens = new TokenRing(admin, resolveBesideConfig(admin.tokenFile), log)
  const attempts = new Attempts()
  let audit: Audit | undefined
  let started: StartedConsole | undefined
  const close = async (): Promise<void> => {
    started?.close()
    tokens.close()
    attempts.close()
    await audit?.close()
  }
  const inspectors = new Inspectors(opened.store)
  const warnings = new RepeatedLog(log)
  try {
    await tokens.open(options.watch)
    audit = new Audit(log, resolveBesideConfig(admin.auditFile))
    const written = audit
    metrics
      .counter(
        'sluice_admin_audit_lines_dropped_total',
        'Audit lines that the audit file has missed.',
      )
      .with()
      .readFrom(() => written.dropped)
    const operations = changes({
      limiters: context.limiters,
      controls: controls.live,
      inspectors,
      domains: options.domains,
      store: opened.store,
      guarded: options.guarded,
      mayBeDomain: config.envoy !== undefined,
      idle: () => controls.idle,
      requests: { proxy: config.proxy, proxyPolicy: proxiedPolicy(config) },
    })
    const onError = (error: unknown): void =>
      warnings.warn('admin-failed', { error: String(error) }, 'an admin request failed')
    const { console } = (started = startConsole({
      tokens,
      attempts,
      audit,
      limiters: context.limiters,
      top: async (most) => {
        const { offenders: top, processes } = await offenders(fleet, fleet.since, most)
        return { top, processes }
      },
      recent: options.recent,
      metricsText: options.metricsText,
      detail: options.detail,
      describe: options.describe,
      claimLink: opened.redis && linkClaims(opened.redis.client, opened.redis.prefix),
      file: options.file,
      onError,
    }))
    const shared = {
      tokens,
      attempts,
      audit,
      views: views({
        context,
        controls,
        inspectors,
        domains: options.domains,
        source: opened.keys,
        fleet,
        read: operations.read as ViewOptions['read'],
        storeMetrics,
        opened,
        trustedProxies: config.trustedProxies,
      }),
      changes: operations,
      maxBody: admin.maxBody,
      metrics,
      onError,
    }
    const makeHandler = (port: PortState) =>
      adminHandler({ ...shared, console: console(port), port })
    const listener = await openHttp(makeHandler, admin, context, 'admin')
    return {
      ...listener,
      close: async (patience) => {
        // The streams of viewers have no end of their own.
        started?.close()
        await listener.close(patience)
        await close()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}
