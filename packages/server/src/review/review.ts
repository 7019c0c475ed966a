// Reviews a file without running it: its mistakes, its traps, and what it means.
import { helpAt } from 'sluice'
import type { Config } from '../config/config.ts'
import type { Environment } from '../config/environment.ts'
import { readText } from '../config/load-config.ts'
import { pathText, type ConfigProblem, type Step } from '../config/problem.ts'
import { readConfig, type ConfigResult } from '../config/read-config.ts'
import { InvalidFiles, loadDomains } from '../envoy/files/load.ts'
import type { DomainConfig } from '../envoy/descriptors/domain-config.ts'
import type { FileTrap, FileWarning } from '../envoy/files/notes.ts'
import { replacesWarnings } from '../envoy/files/replaces.ts'
import { readDomain } from '../envoy/files/read-domain.ts'
import { pathsOf } from '../envoy/start-envoy.ts'
import { reviewNamedFiles } from './named-files.ts'
import { reviewTls } from '../tls/tls-review.ts'
import { trapsOf } from './traps.ts'
import type { Trap, WarningCode } from './warning.ts'

/** A trap, shown where it was written. */
export interface ConfigWarning extends ConfigProblem {
  readonly code: WarningCode | FileTrap
  /** The address of what the documentation says about the code. */
  readonly help: string
}

/** The review of one file. Without a configuration and a domain there are problems, and no warnings are looked for. */
export interface Review {
  readonly config: Config | undefined
  /** The domain, if it is a file of Envoy's own rate limit service. */
  readonly domain?: DomainConfig | undefined
  readonly problems: readonly ConfigProblem[]
  readonly warnings: readonly ConfigWarning[]
}

/** Reviews a file. Never rejects. */
export async function reviewFile(file: string, environment: Environment = {}): Promise<Review> {
  const read = await readText(file)
  if ('problem' in read) return { config: undefined, problems: [read.problem], warnings: [] }
  const result = readConfig(read.text, file, environment)
  if (result.hasDescriptors === true) return reviewDescriptors(read.text, file)
  const review = await withFiles(reviewOf(result, file), result, file)
  return withDescriptorFiles(review, file)
}

/** Reviews a file of Envoy's own rate limit service. */
function reviewDescriptors(text: string, file: string): Review {
  const { domain, problems, warnings } = readDomain(text, file, 'fixed-window')
  const replaces = domain === undefined ? [] : replacesWarnings([{ ...domain, file }])
  const all = [...warnings, ...replaces]
  return { config: undefined, domain, problems, warnings: all.map(withHelp) }
}

function withHelp(warning: FileWarning): ConfigWarning {
  return { ...warning, help: helpAt('reference/service/envoy', warning.code) }
}

/** Adds the problems of the files that listeners name. */
async function withFiles(
  review: Review,
  { positionOf }: ConfigResult,
  file: string,
): Promise<Review> {
  if (review.config === undefined) return review
  const { problems: certificates, exposed, expiring } = await reviewTls(review.config, file)
  const problems = [...certificates, ...(await reviewNamedFiles(review.config, file))]
  if (problems.length > 0) {
    const placed = problems.map((problem) => at(problem, file, positionOf))
    return { config: undefined, problems: placed, warnings: [] }
  }
  const traps: readonly Trap[] = [
    ...exposed.map((remark) => ({ ...remark, code: 'exposed-key' as const })),
    ...expiring.map((remark) => ({ ...remark, code: 'old-certificate' as const })),
  ]
  return { ...review, warnings: [...review.warnings, ...warningsOf(traps, file, positionOf)] }
}

/** Adds the problems of the descriptor files that the configuration names. */
function withDescriptorFiles(review: Review, file: string): Review {
  const { envoy, policies } = review.config ?? {}
  if (envoy === undefined) return review
  try {
    const { warnings } = loadDomains(pathsOf(envoy.files, file), { ...envoy, policies })
    return { ...review, warnings: [...review.warnings, ...warnings.map(withHelp)] }
  } catch (error) {
    if (!(error instanceof InvalidFiles)) throw error
    return { config: undefined, problems: error.problems, warnings: [] }
  }
}

/** Reviews the text of a file; `file` is only a name for messages. */
export function reviewText(text: string, file: string, environment: Environment = {}): Review {
  return reviewOf(readConfig(text, file, environment), file)
}

function reviewOf({ config, problems, remarks, positionOf }: ConfigResult, file: string): Review {
  if (config === undefined) return { config, problems, warnings: [] }
  return { config, problems, warnings: warningsOf(trapsOf(config, remarks), file, positionOf) }
}

type PositionOf = ConfigResult['positionOf']

/** Traps as warnings about a file. */
export function warningsOf(
  traps: readonly Trap[],
  file: string,
  positionOf: PositionOf,
): readonly ConfigWarning[] {
  return traps.map((trap) => ({
    ...(trap.isOfEnvironment === true
      ? { file: 'environment', path: '', message: trap.message }
      : at(trap, file, positionOf)),
    code: trap.code,
    help: helpAt('reference/service/config', trap.code),
  }))
}

function at(
  { steps, message }: { readonly steps: readonly Step[]; readonly message: string },
  file: string,
  positionOf: PositionOf,
): ConfigProblem {
  return { file, ...positionOf(steps), path: pathText(steps), message }
}
