// Reads the configuration of a service that is about to start, with the files that it names.
import type { Environment } from '../config/environment.ts'
import { loadConfig, type LoadedConfig } from '../config/load-config.ts'
import { pathText } from '../config/problem.ts'
import { reviewTls } from '../tls/tls-review.ts'
import { reviewNamedFiles } from './named-files.ts'
import { warningsOf, type ConfigWarning } from './review.ts'
import { trapsOf } from './traps.ts'

/** What a file says, with the warnings of `sluice check`; those about other files are logged by what reads them. */
export interface ConfigForStart extends LoadedConfig {
  readonly warnings: readonly ConfigWarning[]
}

/**
 * The configuration in a file. The files of keys, certificates and tokens must be there too: later they change apart
 * from the configuration, and a renewal that is half done must not keep policies from changing. Never rejects.
 */
export async function loadForStart(
  file: string,
  environment: Environment = {},
): Promise<ConfigForStart> {
  const { positionOf, ...loaded } = await loadConfig(file, environment)
  const { config } = loaded
  if (config === undefined) return { ...loaded, warnings: [] }
  const { problems: certificates } = await reviewTls(config, file)
  const problems = [...certificates, ...(await reviewNamedFiles(config, file))]
  if (problems.length === 0) {
    return { ...loaded, warnings: warningsOf(trapsOf(config, loaded.remarks), file, positionOf) }
  }
  const placed = problems.map(({ steps, message }) => {
    return { file, ...positionOf(steps), path: pathText(steps), message }
  })
  return { ...loaded, config: undefined, problems: placed, warnings: [] }
}
