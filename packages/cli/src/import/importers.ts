// Every importer by the name of what it reads, and the policy file that is made of what it found. Runs in pages too.
import { stringify } from 'yaml'
import { importEnvoy } from './envoy.ts'
import { importExpressRateLimit } from './express-rate-limit.ts'
import { importFastifyRateLimit } from './fastify-rate-limit.ts'
import {
  withUniqueNames,
  type SOURCES,
  type Imported,
  type Importer,
  type Note,
} from './imported.ts'
import { importNginx } from './nginx.ts'
import { importRateLimiterFlexible } from './rate-limiter-flexible.ts'

/** The importers, by the name of what they read. */
export const IMPORTERS: Readonly<Record<(typeof SOURCES)[number], Importer>> = {
  'express-rate-limit': importExpressRateLimit,
  '@fastify/rate-limit': importFastifyRateLimit,
  'rate-limiter-flexible': importRateLimiterFlexible,
  envoy: importEnvoy,
  nginx: importNginx,
}

/** The policy file. What was not translated stands in its comments. */
export function policyFileOf(imported: Imported, from: string, file: string): string {
  const { policies, proxy, fileNotes = [] } = imported
  const notes = [...imported.notes, ...fileNotes]
  const comments = [
    `Limits of ${from}, imported from ${file} by sluice import.`,
    ...(notes.length === 0 ? [] : ['Not translated, or different here:']),
    ...notes.map((note) => `- ${placeOf(note)}${note.text}`),
  ]
  return `${comments.map((line) => `# ${line}`).join('\n')}\n${stringify({ policies: policies.map(withUniqueNames), ...(proxy && { proxy }) }, { lineWidth: 0, aliasDuplicateObjects: false })}`
}

function placeOf({ line }: Note): string {
  return line === undefined ? '' : `line ${line}: `
}
