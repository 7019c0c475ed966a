// The release, as far as it goes without a registry.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { addressProblems, problemsOf, readPackages } from './release.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

const manifest = {
  name: 'sluice',
  version: '1.2.3',
  license: 'Apache-2.0',
  homepage: 'https://sluice.example',
  bugs: 'https://sluice.example/issues',
  repository: { url: 'git+https://github.com/o/r.git', directory: 'packages/sluice' },
  files: ['README.md', 'LICENSE'],
}

describe('a release', () => {
  it('finds nothing wrong with the packages as they are, but for the version in the changelog', () => {
    const { version } = readPackages()[0]!.manifest
    expect(problemsOf(readPackages(), `## ${version}`)).toEqual([])
  })

  it('names what is wrong', () => {
    const { homepage: _, ...rest } = manifest
    const other = {
      ...rest,
      name: '@sluice/cli',
      version: '1.2.2',
      dependencies: { sluice: '1.2.0' },
      files: ['README.md'],
    }
    const packages = [
      { folder: 'sluice', manifest },
      { folder: 'cli', manifest: other },
    ]
    expect(problemsOf(packages, '## Unreleased')).toEqual([
      '@sluice/cli: its version is 1.2.2, not 1.2.3',
      '@sluice/cli: it needs sluice 1.2.0, not 1.2.3',
      '@sluice/cli: repository.directory is packages/sluice, not packages/cli',
      '@sluice/cli: it has no homepage',
      '@sluice/cli: LICENSE is not among its files',
      'CHANGELOG.md has no section for 1.2.3',
    ])
    expect(addressProblems([{ manifest }])).toEqual([])
  })

  it('packs every package and publishes nothing in a dry run', { timeout: 120_000 }, () => {
    const printed = execFileSync('node', ['scripts/release.mjs', '--dry-run'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const { version } = readPackages()[0]!.manifest
    const commands = printed.split('\n').filter((line) => line.startsWith('would run: '))
    expect(commands).toEqual(
      ['sluice', 'sluice-server', 'sluice-nest', 'sluice-cli'].map(
        (name) => `would run: npm publish ${name}-${version}.tgz --provenance --access public`,
      ),
    )
  })
})
