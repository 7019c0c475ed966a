// Reads a configuration from its file.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Environment } from './environment.ts'
import { readConfig, type ConfigResult } from './read-config.ts'

/** What a file says, and what tells its text from another. */
export type LoadedConfig = ConfigResult & { readonly digest: string }

/** The configuration in a file; a file that cannot be read is a mistake like any other. Never rejects. */
export async function loadConfig(
  file: string,
  environment: Environment = {},
): Promise<LoadedConfig> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    const message = `cannot be read: ${error instanceof Error ? error.message : String(error)}`
    return { config: undefined, problems: [{ file, path: '', message }], digest: '' }
  }
  const digest = createHash('sha256').update(text).digest('hex')
  return { ...readConfig(text, file, environment), digest }
}
