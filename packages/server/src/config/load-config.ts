// Reads a configuration from its file.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { reviewNamedFiles } from './named-files.ts'
import { reviewTls } from '../tls/tls-review.ts'
import type { Environment } from './environment.ts'
import { pathText, type ConfigProblem } from './problem.ts'
import { readConfig, type ConfigResult } from './read-config.ts'

/** What a file says, and what tells its text from another. */
export type LoadedConfig = Omit<ConfigResult, 'positionOf'> & { readonly digest: string }

/** The configuration in a file; a file that cannot be read is a mistake like any other. Never rejects. */
export function loadConfig(file: string, environment: Environment = {}): Promise<LoadedConfig> {
  return load(file, environment)
}

async function load(
  file: string,
  environment: Environment,
): Promise<LoadedConfig & Pick<ConfigResult, 'positionOf'>> {
  const read = await readText(file)
  if ('problem' in read) {
    const positionOf = () => ({ line: 1, column: 1 })
    return { config: undefined, problems: [read.problem], positionOf, digest: '' }
  }
  const digest = createHash('sha256').update(read.text).digest('hex')
  return { ...readConfig(read.text, file, environment), digest }
}

/**
 * The same for a service that is about to start: the files of keys, certificates and tokens must be there too.
 * Later they change apart from the file, and a renewal that is half done must not keep policies from changing.
 */
export async function loadForStart(
  file: string,
  environment: Environment = {},
): Promise<LoadedConfig> {
  const { positionOf, ...loaded } = await load(file, environment)
  const { config } = loaded
  if (config === undefined) return loaded
  const { problems: certificates } = await reviewTls(config, file)
  const problems = [...certificates, ...(await reviewNamedFiles(config, file))]
  if (problems.length === 0) return loaded
  const placed = problems.map(({ steps, message }) => {
    return { file, ...positionOf(steps), path: pathText(steps), message }
  })
  return { ...loaded, config: undefined, problems: placed }
}

/** The text of a file, or why it cannot be read. */
export async function readText(
  file: string,
): Promise<{ readonly text: string } | { readonly problem: ConfigProblem }> {
  try {
    return { text: await readFile(file, 'utf8') }
  } catch (error) {
    const message = `cannot be read: ${error instanceof Error ? error.message : String(error)}`
    return { problem: { file, path: '', message } }
  }
}
