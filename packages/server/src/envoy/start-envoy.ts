// Starts the rate limit service of Envoy within the service: its store, its domains, its files and its port.
import { dirname, resolve } from 'node:path'
import type { Store } from 'sluice'
import type { OnEvent } from 'sluice/resilience'
import type { Config, EnvoyConfig, GrpcListenerConfig } from '../config/config.ts'
import type { WatchOptions } from '../reload/watch-file.ts'
import type { Listener } from '../net/listener.ts'
import type { ServiceContext } from '../limiters/service-context.ts'
import type { DomainConfig } from './descriptors/domain-config.ts'
import type { KnownBlocks } from '../controls/live-controls.ts'
import { guardedStore } from './decide/guarded-store.ts'
import { DomainRegistry } from './domains.ts'
import { DomainFiles } from './files/domain-files.ts'
import { openEnvoy } from './listener.ts'
import { addFilesMetric } from './metrics.ts'

/** What is assumed of a service that has a gRPC listener and says nothing more. */
const DEFAULTS: EnvoyConfig = {
  files: [],
  mergeDomains: false,
  algorithm: 'fixed-window',
  charging: 'all-or-none',
  headers: ['retry-after'],
  onStoreFailure: 'local',
  reflection: false,
}

/** Where Envoy looks for its own service. */
const ADDRESS = { host: '127.0.0.1', port: 8081 }

/** What the service brings along. */
export interface EnvoyParts {
  readonly context: ServiceContext
  readonly store: Store
  /** The configuration's file, beside which relative files are looked for. */
  readonly file?: string | undefined
  readonly watch?: WatchOptions | false | undefined
  /** The descriptors in force, when somebody else reads the files. */
  readonly domains?: readonly DomainConfig[] | undefined
  /** Who hears of the store behind the descriptors, under a name. */
  readonly listenerFor?: (name: string) => OnEvent
  /** What operators have blocked. */
  readonly blocks?: KnownBlocks | undefined
}

/** The listener, and what reads its files again. */
export interface StartedEnvoy {
  readonly listener: Listener
  reload(): ReturnType<DomainFiles['reload']>
  /** What is wrong with its files as they are now. */
  problems(): readonly string[]
  /** Puts other descriptors in force, for whoever reads the files. */
  swap(domains: readonly DomainConfig[]): void
}

/** Starts it when the configuration asks for it; throws `InvalidFiles` when its files are wrong. */
export async function startEnvoy(
  config: Config,
  { context, store, file, watch, domains: given, listenerFor, blocks }: EnvoyParts,
): Promise<StartedEnvoy | undefined> {
  const address: GrpcListenerConfig | undefined = config.listeners.grpc ?? (config.envoy && ADDRESS)
  if (address === undefined) return undefined
  const { files, mergeDomains, reflection, onStoreFailure, ...deciding } = config.envoy ?? DEFAULTS
  const guarded = guardedStore(store, {
    ...config.failure,
    onStoreFailure,
    ...(listenerFor && store.sync !== true && { onEvent: listenerFor('envoy') }),
  })
  const domains = new DomainRegistry(
    { ...deciding, store: guarded, ...(blocks && { blocks }) },
    context.limiters,
  )
  const loading = { algorithm: deciding.algorithm, mergeDomains }
  const own = given === undefined ? files : []
  const source = new DomainFiles(pathsOf(own, file), loading, domains, context.log)
  if (given !== undefined) domains.swap(given)
  if (own.length > 0) addFilesMetric(context.metrics, source)
  const { tls: _, ...listening } = address
  const tls = await context.certificates.open('grpc', config.listeners.grpc?.tls)
  const opened = await openEnvoy(
    { ...listening, ...(tls && { tls }), domains, reflection },
    context,
  )
  if (watch !== false && own.length > 0) source.watch(watch)
  return {
    reload: () => source.reload(),
    problems: () => source.problems,
    swap: (others) => domains.swap(others),
    listener: {
      ...opened,
      close: async (patience) => {
        source.close()
        await opened.close(patience)
      },
    },
  }
}

/** Relative files are beside the configuration. */
export function pathsOf(
  files: readonly string[],
  configFile: string | undefined,
): readonly string[] {
  return files.map((path) => (configFile === undefined ? path : resolve(dirname(configFile), path)))
}
