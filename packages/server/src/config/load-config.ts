// Reads a configuration from its file.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Environment } from './environment.ts'
import type { ConfigProblem } from './problem.ts'
import { problemsApart } from './read-apart.ts'
import { readConfig, type ConfigResult } from './read-config.ts'

/** What a file holds, and the digest of its text; the digest is empty if the file could not be read. */
export type LoadedConfig = Omit<ConfigResult, 'positionOf'> & { readonly digest: string }

/** The same with the places of its values. */
export type LocatedConfig = LoadedConfig & Pick<ConfigResult, 'positionOf'>

/** The configuration in a file; a file that cannot be read is a mistake like any other. Never rejects. */
export async function loadConfig(
  file: string,
  environment: Environment = {},
): Promise<LocatedConfig> {
  const read = await readText(file)
  const positionOf = () => ({ line: 1, column: 1 })
  if ('problem' in read)
    return { config: undefined, problems: [read.problem], positionOf, digest: '' }
  const digest = createHash('sha256').update(read.text).digest('hex')
  const { problems, isRead } = await problemsApart(read.text, file, environment)
  if (!isRead) return { config: undefined, problems, positionOf, digest: '' }
  if (problems.length > 0) return { config: undefined, problems, positionOf, digest }
  return { ...readConfig(read.text, file, environment), digest }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
}

/** The text of a file, or why it cannot be read. */
export async function readText(
  file: string,
): Promise<{ readonly text: string } | { readonly problem: ConfigProblem }> {
  try {
    return { text: await readFile(file, 'utf8') }
  } catch (error) {
    const { code = '', message: says } = error as NodeJS.ErrnoException
    const message = `cannot be read: ${REASONS[code] ?? says}`
    return { problem: { file, path: '', message } }
  }
}
