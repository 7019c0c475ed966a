// Every error, warning and alert leads to a heading of the documentation that exists.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { helpAt } from '../../packages/sluice/src/errors.ts'

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

/** The members of a union of strings, or of a list of them, that a file declares. */
function codesIn(file: string, opening: string): string[] {
  const text = read(file)
  const start = text.indexOf(opening)
  expect(start, `${opening} in ${file}`).toBeGreaterThan(0)
  const body = text.slice(start).split('\n\n')[0]!
  return [...body.matchAll(/'([a-z-]+)'/g)].map(([, code]) => code!)
}

function headingsOf(page: string): string[] {
  return [...read(`docs/${page}.md`).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading!)
}

describe.each<[what: string, page: string, codes: readonly string[]]>([
  [
    'errors',
    'reference/errors',
    codesIn('packages/sluice/src/errors.ts', 'export const ERROR_CODES'),
  ],
  [
    'warnings of HTTP adapters',
    'reference/http/warnings',
    codesIn('packages/sluice/src/http/warnings.ts', 'export type HttpWarningCode'),
  ],
  [
    'warnings of Redis',
    'reference/redis',
    [
      ...codesIn('packages/sluice/src/redis/warnings.ts', 'readonly code:'),
      ...codesIn('packages/sluice/src/redis/client-adapter.ts', 'export type ClientRisk'),
    ],
  ],
  [
    'warnings of files',
    'reference/service/config',
    codesIn('packages/server/src/review/warning.ts', 'export type WarningCode'),
  ],
  [
    'traps of descriptor files',
    'reference/service/envoy',
    codesIn('packages/server/src/envoy/files/notes.ts', 'export const TRAPS'),
  ],
])('%s', (_, page, codes) => {
  it('have a heading each', () => {
    expect(codes.length).toBeGreaterThan(3)
    const headings = headingsOf(page)
    expect(codes.filter((code) => !headings.includes(code))).toEqual([])
  })
})

describe('alerts', () => {
  const rules = read('deploy/prometheus/rules.yml').split('- alert: ').slice(1)

  it('lead to their part of the runbook', () => {
    expect(rules.length).toBeGreaterThan(5)
    const headings = headingsOf('operate/runbook')
    for (const rule of rules) {
      const name = rule.split('\n')[0]!
      expect(headings).toContain(name)
      expect(rule).toContain(`runbook_url: ${helpAt('operate/runbook', name.toLowerCase())}\n`)
    }
  })
})
