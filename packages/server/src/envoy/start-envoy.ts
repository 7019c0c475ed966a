// Starts the rate limit service of Envoy within the service: its store, its domains, its files and its port.
import { dirname, resolve } from 'node:path'
import type { Config, GrpcListenerConfig } from '../config/config.ts'
import { envoy as envoyShape } from '../config/shape/envoy.ts'
import type { WatchOptions } from '../reload/watch-file.ts'
import type { Listener } from '../net/listener.ts'
import type { ServiceContext } from '../limiters/limiters.ts'
import type { DecideOptions } from 'sluice'
import type { CountedRules } from '../metrics/decision-metrics.ts'
import type { DomainConfig } from './descriptors/domain-config.ts'
import { decideOptions, type DecisionSurroundings } from '../limiters/decide-options.ts'
import { DomainRegistry } from './domains.ts'
import { DomainFiles } from './files/domain-files.ts'
import { openEnvoy } from './listener.ts'
import { addFilesMetric, descriptorMetrics } from './metrics.ts'

/** Where Envoy looks for its own service. */
const ADDRESS = { host: '127.0.0.1', port: 8081 }

/** What the service provides. */
export interface EnvoyServices {
  readonly context: ServiceContext
  readonly surroundings: DecisionSurroundings
  /** The configuration's file; relative paths start at its folder. */
  readonly file?: string | undefined
  readonly watch?: WatchOptions | false | undefined
  /** The descriptors in force, when another process reads the files. */
  readonly domains?: readonly DomainConfig[] | undefined
}

/** The listener, and what reads its files again. */
export interface StartedEnvoy {
  readonly listener: Listener
  /** The domains in force. */
  readonly domains: DomainRegistry
  reload(): ReturnType<DomainFiles['reload']>
  /** What is wrong with its files as they are now. */
  problems(): readonly string[]
  /** Puts other descriptors in force. */
  swap(domains: readonly DomainConfig[]): void
}

/** Whether a configuration asks for the gRPC listener. */
export function hasEnvoy({ listeners, envoy }: Config): boolean {
  return listeners.grpc !== undefined || envoy !== undefined
}

/** Starts it when the configuration asks for it; throws `InvalidFiles` when its files are wrong. */
export async function startEnvoy(
  config: Config,
  { context, surroundings, file, watch, domains: given }: EnvoyServices,
): Promise<StartedEnvoy | undefined> {
  const address: GrpcListenerConfig | undefined = config.listeners.grpc ?? (config.envoy && ADDRESS)
  if (address === undefined) return undefined
  const settings = config.envoy ?? envoyShape.parse({})
  const { files, mergeDomains, reflection, nearLimitRatio, ...deciding } = settings
  const optionsFor = (counted: CountedRules): DecideOptions => decideOptions(counted, surroundings)
  const { countDescriptors, retain } = descriptorMetrics(context.metrics, nearLimitRatio)
  const onDomains = (counted: readonly CountedRules[]): void => {
    surroundings.decisions.retain('domains', counted)
    retain(counted)
  }
  const { decisionIdHeader } = config
  const domains = new DomainRegistry(
    { ...deciding, around: optionsFor, onDomains, countDescriptors, decisionIdHeader },
    context.limiters,
  )
  const { policies } = config
  const loading = { algorithm: deciding.algorithm, mergeDomains, policies }
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
    domains,
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

/** Relative paths start at the folder of the configuration. */
export function pathsOf(
  files: readonly string[],
  configFile: string | undefined,
): readonly string[] {
  return files.map((path) => (configFile === undefined ? path : resolve(dirname(configFile), path)))
}
