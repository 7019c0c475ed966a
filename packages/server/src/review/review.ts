// Everything that can be said of a file without running it: mistakes, traps, and what it means.
import type { Config } from '../config/config.ts'
import type { Environment } from '../config/environment.ts'
import { readText } from '../config/load-config.ts'
import { pathText, type ConfigProblem } from '../config/problem.ts'
import { readConfig } from '../config/read-config.ts'
import { InvalidFiles, loadDomains } from '../envoy/files/load.ts'
import type { Trap as FileTrap } from '../envoy/files/notes.ts'
import { pathsOf } from '../envoy/start-envoy.ts'
import { trapsOf } from './traps.ts'
import type { WarningCode } from './warning.ts'

/** A trap, shown where it was written. */
export interface ConfigWarning extends ConfigProblem {
  readonly code: WarningCode | FileTrap
}

/** The review of one file. Without a configuration there are problems, and no warnings are looked for. */
export interface Review {
  readonly config: Config | undefined
  readonly problems: readonly ConfigProblem[]
  readonly warnings: readonly ConfigWarning[]
}

/** Reviews a file. Never rejects. */
export async function reviewFile(file: string, environment: Environment = {}): Promise<Review> {
  const read = await readText(file)
  if ('problem' in read) return { config: undefined, problems: [read.problem], warnings: [] }
  return withDescriptorFiles(reviewText(read.text, file, environment), file)
}

/** The review with what the descriptor files of the configuration have to say. */
function withDescriptorFiles(review: Review, file: string): Review {
  const { envoy } = review.config ?? {}
  if (envoy === undefined) return review
  try {
    const { warnings } = loadDomains(pathsOf(envoy.files, file), envoy)
    return { ...review, warnings: [...review.warnings, ...warnings] }
  } catch (error) {
    if (!(error instanceof InvalidFiles)) throw error
    return { config: undefined, problems: error.problems, warnings: [] }
  }
}

/** Reviews the text of a file; `file` is only a name for messages. */
export function reviewText(text: string, file: string, environment: Environment = {}): Review {
  const { config, problems, positionOf } = readConfig(text, file, environment)
  if (config === undefined) return { config, problems, warnings: [] }
  const warnings = trapsOf(config).map(({ code, steps, message }) => ({
    file,
    ...positionOf(steps),
    path: pathText(steps),
    code,
    message,
  }))
  return { config, problems, warnings }
}
