// `sluice import`: reads the limits of another program and writes them as a policy file; `--write` edits source code.
import { readFile, writeFile } from 'node:fs/promises'
import { readConfig } from '@sluice/server'
import { stringify } from 'yaml'
import { importEnvoy } from '../import/envoy.ts'
import { importExpressRateLimit } from '../import/express-rate-limit.ts'
import { importFastifyRateLimit } from '../import/fastify-rate-limit.ts'
import {
  edited,
  withUniqueNames,
  type Imported,
  type Importer,
  type Note,
} from '../import/imported.ts'
import { importNginx } from '../import/nginx.ts'
import { importRateLimiterFlexible } from '../import/rate-limiter-flexible.ts'
import { Mistake } from '../terminal/mistake.ts'
import { print, type Streams, type TextOutput } from '../terminal/streams.ts'

/** The importers, by the name of what they read. */
const IMPORTERS: Readonly<Record<string, Importer>> = {
  'express-rate-limit': importExpressRateLimit,
  '@fastify/rate-limit': importFastifyRateLimit,
  'rate-limiter-flexible': importRateLimiterFlexible,
  envoy: importEnvoy,
  nginx: importNginx,
}

/** What may be imported. */
export const SOURCES: readonly string[] = Object.keys(IMPORTERS)

/** The flags of the command. */
export interface ImportFlags {
  /** Edit the source code instead of printing a policy file. */
  readonly write?: boolean
}

/** Imports and gives the exit code: 0, or 1 if nothing was found. */
export async function importCommand(
  from: string,
  file: string,
  flags: ImportFlags,
  { stdout, stderr }: Streams,
): Promise<number> {
  const importer = Object.hasOwn(IMPORTERS, from) ? IMPORTERS[from] : undefined
  if (importer === undefined)
    throw new Mistake(`${from} cannot be imported; accepted: ${SOURCES.join(', ')}`)
  const text = await readFile(file, 'utf8')
  const imported = importer(text, file)
  for (const note of imported.notes) print(stderr, noteText(note, file))
  if (flags.write === true) return writeBack(text, file, imported, stderr)
  const { policies } = imported
  if (policies.every(({ rules }) => rules.length === 0)) {
    print(stderr, `${file} has no limits of ${from} that can be read`)
    return 1
  }
  const yaml = fileOf(imported, from, file)
  const [problem] = readConfig(yaml, file).problems
  if (problem !== undefined) throw new Mistake(`the limits are not accepted: ${problem.message}`)
  print(stdout, yaml.trimEnd())
  return 0
}

async function writeBack(
  text: string,
  file: string,
  { edits }: Imported,
  stderr: TextOutput,
): Promise<number> {
  if (edits.length === 0) {
    print(stderr, `${file} was not changed`)
    return 1
  }
  await writeFile(file, edited(text, edits))
  print(stderr, `${file} was changed; review it before you run it`)
  return 0
}

/** The policy file. What was not translated stands in its comments. */
function fileOf({ policies, notes }: Imported, from: string, file: string): string {
  const comments = [
    `Limits of ${from}, imported from ${file} by sluice import.`,
    ...(notes.length === 0 ? [] : ['Not translated, or different here:']),
    ...notes.map((note) => `- ${placeOf(note)}${note.text}`),
  ]
  return `${comments.map((line) => `# ${line}`).join('\n')}\n${stringify({ policies: policies.map(withUniqueNames) }, { lineWidth: 0 })}`
}

function noteText(note: Note, file: string): string {
  return `${file}:${note.line === undefined ? '' : `${note.line}:`} ${note.text}`
}

function placeOf({ line }: Note): string {
  return line === undefined ? '' : `line ${line}: `
}
