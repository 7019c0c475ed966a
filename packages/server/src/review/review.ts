// Everything that can be said of a file without running it: mistakes, traps, and what it means.
import type { Config } from '../config/config.ts'
import type { Environment } from '../config/environment.ts'
import { readText } from '../config/load-config.ts'
import { pathText, type ConfigProblem } from '../config/problem.ts'
import { readConfig } from '../config/read-config.ts'
import { trapsOf } from './traps.ts'
import type { WarningCode } from './warning.ts'

/** A trap, shown where it was written. */
export interface ConfigWarning extends ConfigProblem {
  readonly code: WarningCode
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
  return reviewText(read.text, file, environment)
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
