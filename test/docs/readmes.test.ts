// The README of each package names everything that its users can import or run.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const packages = new URL('../../packages/', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, packages), 'utf8')

interface Exports {
  readonly name: string
  readonly exports?: Readonly<Record<string, unknown>>
}

describe.each(['sluice', 'server', 'nest'])('the README of packages/%s', (folder) => {
  const manifest = JSON.parse(read(`${folder}/package.json`)) as Exports
  const entries = Object.keys(manifest.exports ?? {})
    .filter((entry) => entry !== './package.json')
    .map((entry) => `${manifest.name}${entry.slice(1)}`)

  it('names every entry', () => {
    const readme = read(`${folder}/README.md`)
    expect(entries.length).toBeGreaterThan(0)
    expect(entries.filter((entry) => !readme.includes(entry))).toEqual([])
  })
})

// The library has more functions than a table can show; the reference has them.
describe.each(['server', 'nest'])('the README of packages/%s', (folder) => {
  it('names every function of its entry', () => {
    const readme = read(`${folder}/README.md`)
    const source = read(`${folder}/src/index.ts`)
    const values = [...source.matchAll(/^export \{([^}]*)\}/gm)]
      .flatMap(([, list]) => list!.split(','))
      .map((name) => name.trim())
      .filter((name) => name !== '' && !name.startsWith('type '))
    expect(values.filter((name) => !readme.includes(`\`${name}`))).toEqual([])
  })
})

describe('the README of packages/cli', () => {
  it('names every command', () => {
    const sources = read('cli/src/main.ts') + read('cli/src/operate/add-verbs.ts')
    const commands = [...sources.matchAll(/(?:\.command|\bverb|\bonSubject)\('([\w-]+)'/g)].map(
      ([, name]) => name!,
    )
    expect(commands).toEqual(expect.arrayContaining(['serve', 'why', 'block', 'promote']))
    const readme = read('cli/README.md')
    expect(commands.filter((name) => !readme.includes(`npx sluice ${name}`))).toEqual([])
  })
})
