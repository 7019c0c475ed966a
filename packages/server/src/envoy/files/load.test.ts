import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { InvalidFiles, loadDomains, type LoadOptions } from './load.ts'

/** Loads a folder of these files; the codes and files of its warnings. */
function warningsOf(files: Record<string, string>, options: LoadOptions = {}): readonly string[] {
  const folder = folderOf(files)
  return loadDomains([folder], options).warnings.map(
    ({ code, file }) => `${code} ${file.slice(folder.length + 1)}`,
  )
}

function folderOf(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-descriptors-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

/** A domain with a limit for each line `name` or `name replaces other`. */
const domain = (...limits: string[]): string =>
  [
    'domain: shop',
    'descriptors:',
    ...limits.map((line) => {
      const [name, , other] = line.split(' ')
      const replaces = other === undefined ? '' : `, replaces: [{ name: ${other} }]`
      return `  - { key: k-${name}, rate_limit: { name: ${name}, unit: day, requests_per_unit: 1${replaces} } }`
    }),
    '',
  ].join('\n')

test('a folder without files is reported, and so are files that are not read', () => {
  expect(warningsOf({})).toEqual(['no-files '])
  expect(warningsOf({ 'shop.json': '{}' })).toEqual(['file-ignored shop.json', 'no-files '])
  expect(warningsOf({ 'a.yaml': domain('x'), 'b/notes.txt': '' })).toEqual([
    'file-ignored b/notes.txt',
  ])
  expect(warningsOf({ 'b/a.yml': domain('x'), '..data/x.json': '' })).toEqual([])
})

test('a domain with the name of a policy is reported', () => {
  const files = { 'a.yaml': domain('x') }
  expect(warningsOf(files, { policies: [{ name: 'shop' }] })).toEqual(['policy-hidden a.yaml'])
  expect(warningsOf(files, { policies: [{ name: 'api' }] })).toEqual([])
})

test.each<[what: string, limits: string[], codes: string[]]>([
  ['a name that no limit has', ['a replaces b'], ['replaces-nothing a.yaml']],
  ['two that replace each other', ['a replaces b', 'b replaces a'], ['replaces-each-other a.yaml']],
  [
    'three in a circle',
    ['a replaces b', 'b replaces c', 'c replaces a'],
    ['replaces-each-other a.yaml'],
  ],
  ['a chain', ['a replaces b', 'b replaces c', 'c'], []],
  [
    'one that leads into a circle',
    ['x replaces a', 'a replaces b', 'b replaces a'],
    ['replaces-each-other a.yaml'],
  ],
])('replaces: %s', (_, limits, codes) => {
  expect(warningsOf({ 'a.yaml': domain(...limits) })).toEqual(codes)
})

test('limits of one domain in several files replace each other', () => {
  const files = { 'a.yaml': domain('a replaces b'), 'b.yaml': domain('b') }
  expect(warningsOf(files, { mergeDomains: true })).toEqual([])
  const both = { 'a.yaml': domain('a replaces b'), 'b.yaml': domain('b replaces a') }
  expect(warningsOf(both, { mergeDomains: true })).toEqual(['replaces-each-other a.yaml'])
})

test('the same descriptor in two files is a mistake', () => {
  const folder = folderOf({ 'a.yaml': domain('a'), 'b.yaml': domain('b', 'a') })
  const load = (options: LoadOptions) => () => loadDomains([folder], options)
  expect(load({ mergeDomains: true })).toThrow(InvalidFiles)
  expect(load({ mergeDomains: true })).toThrow(
    `${join(folder, 'b.yaml')}:4:5: the descriptor k-a of the domain shop is in another file too`,
  )
  expect(load({})).toThrow('accepted: each domain once, or mergeDomains')
})
