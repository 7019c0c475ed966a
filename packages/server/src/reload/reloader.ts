// Puts a changed file in force, or keeps what is in force and says why.
import { isDeepStrictEqual } from 'node:util'
import type { Policy } from 'sluice'
import type { Config } from '../config/config.ts'
import type { Environment } from '../config/environment.ts'
import { loadConfig, type LocatedConfig } from '../config/load-config.ts'
import { problemText } from '../config/problem.ts'
import type { MetricRegistry } from '../metrics/registry.ts'
import type { Log } from '../log/log.ts'
import { policyChanges } from './policy-changes.ts'
import { Retry } from './retry.ts'

/** The result of a reload. */
export type ReloadResult = 'applied' | 'unchanged' | 'failed'

/** The result of the last attempt, for `/readyz`. */
export interface ReloadStatus {
  /** The generation of the policies in force. */
  readonly generation: number
  /** What is wrong with the file now; absent when nothing is. */
  readonly reloadProblems?: readonly string[]
}

/** Where the configuration comes from, and what it was at the start. */
export interface ConfigSource {
  readonly file: string
  readonly digest: string
  readonly config: Config
  readonly environment: Environment
}

/** The part of the registry that a reload uses. */
export interface SwappablePolicies {
  readonly current: { readonly generation: number }
  /** Puts other policies in force; throws, and changes nothing, when one of them cannot be. */
  swap(policies: readonly Policy[]): unknown
}

/** Only policies change while the service runs; these parts take effect at the next start. */
const FIXED = [
  'store',
  'listeners',
  'envoy',
  'headers',
  'decisionIdHeader',
  'proxy',
  'failure',
  'trustedProxies',
  'shutdown',
  'workers',
  'log',
] as const

/** Reads the file again, one attempt after the other. */
export class Reloader {
  /** Receives each changed file that is put in force. */
  onApplied: (loaded: LocatedConfig) => void = () => {}
  private readonly source: ConfigSource
  private readonly registry: SwappablePolicies
  private readonly log: Log
  private readonly count: (result: ReloadResult) => void
  private digest: string
  /** As the file had them last. */
  private policies: readonly Policy[]
  private problems: readonly string[] = []
  private readonly retry = new Retry(() => this.reload())
  private last: Promise<unknown> = Promise.resolve()
  /** Called after each attempt, also after those that the reloader makes by itself. */
  onReload: ((result: ReloadResult) => void) | undefined

  constructor(
    source: ConfigSource,
    registry: SwappablePolicies,
    metrics: MetricRegistry,
    log: Log,
  ) {
    this.source = source
    this.registry = registry
    this.log = log
    this.digest = source.digest
    this.policies = source.config.policies
    const reloads = metrics.counter(
      'sluice_config_reloads_total',
      'Attempts to put a changed configuration in force.',
      ['result'],
    )
    for (const result of ['applied', 'failed'] as const) reloads.with(result)
    this.count = (result) => reloads.with(result).add()
    metrics
      .gauge('sluice_config_valid', 'Whether the file, as it was last read, is in force.')
      .with()
      .readFrom(() => (this.problems.length === 0 ? 1 : 0))
    metrics
      .gauge('sluice_config_generation', 'How many states of the policies have been in force.')
      .with()
      .readFrom(() => registry.current.generation)
  }

  get status(): ReloadStatus {
    const { generation } = this.registry.current
    return this.problems.length === 0
      ? { generation }
      : { generation, reloadProblems: this.problems }
  }

  /** Reads the file and, when it is another one and valid, swaps all policies at once. Never rejects. */
  reload(): Promise<ReloadResult> {
    const next = this.last
      .then(() => this.attempt())
      .catch((error: unknown) => {
        // If the new file is invalid in any way, the old policies stay.
        return this.failed([String(error)])
      })
      .then((result) => {
        this.onReload?.(result)
        return result
      })
    this.last = next
    return next
  }

  private async attempt(): Promise<ReloadResult> {
    const { file, environment, config: started } = this.source
    const loaded = await loadConfig(file, environment)
    const { config, problems, digest } = loaded
    if (digest !== '' && digest === this.digest) return 'unchanged'
    this.digest = digest
    const lines = config === undefined ? problems.map(problemText) : this.swap(config)
    if (lines.length > 0) {
      // A file that cannot be read, for want of file descriptors for example, may be readable without having changed.
      if (digest === '') this.retry.later()
      return this.failed(lines)
    }
    this.problems = []
    this.count('applied')
    const later = FIXED.filter((name) => !isDeepStrictEqual(config?.[name], started[name]))
    const { generation } = this.registry.current
    const changes = policyChanges(this.policies, config?.policies ?? [])
    this.policies = config?.policies ?? []
    this.log.info({ file, generation, changes }, 'the changed policies are in force')
    if (later.length > 0) {
      this.log.warn({ file, fields: later }, 'these changes take effect at the next start')
    }
    this.onApplied(loaded)
    return 'applied'
  }

  /** Ends the attempts to read a file that cannot be read. */
  close(): void {
    this.retry.close()
  }

  private failed(lines: readonly string[]): 'failed' {
    // The same failure as before is not logged again.
    if (isDeepStrictEqual(lines, this.problems)) return 'failed'
    this.problems = lines
    this.count('failed')
    const { file } = this.source
    this.log.error({ file, problems: lines }, 'the changed file is not valid; the old one stays')
    return 'failed'
  }

  /** Puts the policies in force, or returns the reason why it could not. */
  private swap(config: Config): readonly string[] {
    try {
      this.registry.swap(config.policies)
      return []
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)]
    }
  }
}

/** The status, with the problems of files other than the configuration. */
export function withProblems(
  status: ReloadStatus,
  others: readonly string[] | undefined = [],
): ReloadStatus {
  if (others.length === 0) return status
  return { ...status, reloadProblems: [...(status.reloadProblems ?? []), ...others] }
}
