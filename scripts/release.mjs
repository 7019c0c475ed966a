// Publishes the packages with provenance: `node scripts/release.mjs`, or with --dry-run to see what it would do.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root, run } from './run.mjs'

/** In an order in which each finds those that it depends on. */
export const PACKAGES = ['sluice', 'server', 'nest', 'cli']

/** @typedef {{ name: string, version: string, repository?: { url?: string, directory?: string }, homepage?: string, bugs?: string | { url?: string }, license?: string, dependencies?: Record<string, string>, files?: string[] }} Manifest */

/**
 * What keeps the packages from being published.
 * @param {readonly { folder: string, manifest: Manifest }[]} packages
 * @param {string} changelog
 * @returns {string[]}
 */
export function problemsOf(packages, changelog) {
  const problems = []
  const version = packages[0]?.manifest.version ?? ''
  const own = new Set(packages.map(({ manifest }) => manifest.name))
  for (const { folder, manifest } of packages) {
    const { name, repository, homepage, bugs, license, dependencies = {}, files = [] } = manifest
    const wrong = (/** @type {string} */ message) => problems.push(`${name}: ${message}`)
    if (manifest.version !== version) wrong(`its version is ${manifest.version}, not ${version}`)
    for (const [other, range] of Object.entries(dependencies))
      if (own.has(other) && range !== version) wrong(`it needs ${other} ${range}, not ${version}`)
    if (repository?.directory !== `packages/${folder}`)
      wrong(`repository.directory is ${repository?.directory}, not packages/${folder}`)
    for (const [field, value] of Object.entries({
      'repository.url': repository?.url,
      homepage,
      bugs,
      license,
    }))
      if (value === undefined) wrong(`it has no ${field}`)
    for (const file of ['README.md', 'LICENSE'])
      if (!files.includes(file)) wrong(`${file} is not among its files`)
  }
  if (!changelog.includes(`## ${version}`))
    problems.push(`CHANGELOG.md has no section for ${version}`)
  return problems
}

/**
 * What only a real release needs: an address that npm can check the provenance against.
 * @param {readonly { manifest: Manifest }[]} packages
 */
export function addressProblems(packages) {
  return packages
    .filter(
      ({ manifest }) => !/^git\+https:\/\/git(hub|lab)\.com\//.test(manifest.repository?.url ?? ''),
    )
    .map(
      ({ manifest }) =>
        `${manifest.name}: repository.url must name the repository that CI builds from`,
    )
}

/** The packages as they are. */
export function readPackages() {
  return PACKAGES.map((folder) => {
    const path = `${root}packages/${folder}/package.json`
    return { folder, manifest: /** @type {Manifest} */ (JSON.parse(readFileSync(path, 'utf8'))) }
  })
}

/** @param {boolean} isDryRun */
async function release(isDryRun) {
  const packages = readPackages()
  const problems = problemsOf(packages, readFileSync(`${root}CHANGELOG.md`, 'utf8'))
  const address = addressProblems(packages)
  for (const problem of [...problems, ...address]) console.error(problem)
  if (!isDryRun && problems.length + address.length > 0) return 1
  const scratch = mkdtempSync(join(tmpdir(), 'sluice-release-'))
  try {
    for (const { folder } of packages) {
      // Built once before; a build for each package would compile them all four times.
      const args = ['pack', '--ignore-scripts', '--silent', '--pack-destination', scratch]
      const code = await run('npm', args, { cwd: `${root}packages/${folder}` })
      if (code !== 0) return code
    }
    const tarballs = packages.map(({ manifest }) => {
      const name = `${manifest.name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`
      if (!existsSync(join(scratch, name)))
        throw new Error(`no ${name} in ${readdirSync(scratch).join()}`)
      return join(scratch, name)
    })
    for (const tarball of tarballs) {
      const args = ['publish', tarball, '--provenance', '--access', 'public']
      if (isDryRun) console.log(`would run: npm ${args.join(' ').replace(`${scratch}/`, '')}`)
      else {
        const code = await run('npm', args)
        if (code !== 0) return code
      }
    }
    return 0
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  process.exitCode = await release(process.argv.includes('--dry-run'))
