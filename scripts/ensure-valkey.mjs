// Finds a Valkey server for the tests: one on PATH, one fetched by an earlier run, or Debian's, unpacked under node_modules.
import { execFile } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { root } from './run.mjs'

/** @typedef {{ path: string, version: string } | { path: undefined, reason: string }} Valkey */

const execute = promisify(execFile)
const cache = join(root, 'node_modules/.cache/sluice')
const folder = join(cache, 'valkey')
const suite = 'bookworm'
const packages = ['valkey-server', 'valkey-tools']
const advice = 'put valkey-server on the PATH'

/**
 * The path of a Valkey server that runs here, or why there is none. Fetches it at most once: what was unpacked is kept,
 * and nothing of the system is changed.
 * @returns {Promise<Valkey>}
 */
export async function ensureValkey() {
  const unpacked = join(folder, 'usr/bin/valkey-server')
  const found = (await runs('valkey-server')) ?? (await runs(unpacked))
  if (found) return found
  if (!isDebian(suite)) return none(`only Debian ${suite} is known to offer a package that fits`)
  try {
    await fetchDebian()
  } catch (error) {
    const { stderr } = /** @type {{ stderr?: string }} */ (error)
    return none(stderr?.trim() || String(error))
  }
  return (await runs(unpacked)) ?? none(`the fetched ${unpacked} does not run`)
}

/** @param {string} why @returns {Valkey} */
function none(why) {
  return { path: undefined, reason: `no valkey-server: ${why}; ${advice}` }
}

/** @param {string} path @returns {Promise<Valkey | undefined>} */
async function runs(path) {
  try {
    const { stdout } = await execute(path, ['--version'])
    return { path, version: /v=(\S+)/.exec(stdout)?.[1] ?? stdout.trim() }
  } catch {
    return undefined
  }
}

/** @param {string} codename */
function isDebian(codename) {
  try {
    return readFileSync('/etc/os-release', 'utf8').includes(`VERSION_CODENAME=${codename}\n`)
  } catch {
    return false
  }
}

/** Downloads with an apt state of our own, from the mirror that this machine already uses, and unpacks. */
async function fetchDebian() {
  mkdirSync(cache, { recursive: true })
  const work = mkdtempSync(join(cache, 'fetch-'))
  try {
    mkdirSync(join(work, 'lists/partial'), { recursive: true })
    mkdirSync(join(work, 'archives/partial'), { recursive: true })
    const sources = join(work, 'sources.list')
    writeFileSync(sources, `deb ${await mirror()} ${suite}-backports main\n`)
    const settings = {
      'Dir::Etc::SourceList': sources,
      'Dir::Etc::SourceParts': '/dev/null',
      'Dir::State::Lists': join(work, 'lists'),
      'Dir::Cache': work,
      // The folder is ours alone, so apt's own user could not write to it.
      'APT::Sandbox::User': 'root',
      'APT::Update::Post-Invoke': '',
      // A mirror that cannot be reached is an error and not just a warning.
      'APT::Update::Error-Mode': 'any',
      'Acquire::Languages': 'none',
      'Acquire::Retries': '1',
      'Acquire::http::Timeout': '10',
      'Acquire::https::Timeout': '10',
    }
    const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
    await execute('apt-get', ['update', '-qq', ...options], { cwd: work })
    await execute('apt-get', ['download', '-qq', ...packages, ...options], { cwd: work })
    const unpacked = join(work, 'unpacked')
    for (const name of readdirSync(work).filter((file) => file.endsWith('.deb'))) {
      await execute('dpkg', ['-x', name, unpacked], { cwd: work })
    }
    publish(unpacked)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Puts the finished folder in place at once; the faster of two wins, since both have fetched the same. @param {string} unpacked */
function publish(unpacked) {
  try {
    renameSync(unpacked, folder)
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error)
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error
  }
}

/** Where this machine gets its own packages. */
async function mirror() {
  const filter = ['Created-By: Packages', `Release: ${suite}`, 'Component: main']
  const { stdout } = await execute('apt-get', [
    'indextargets',
    '--format',
    '$(REPO_URI)',
    ...filter,
  ])
  const first = stdout.split('\n')[0]
  if (!first) throw new Error(`the sources of this machine do not name ${suite}`)
  return first
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const valkey = await ensureValkey()
  console.log(valkey.path === undefined ? valkey.reason : `${valkey.path} (${valkey.version})`)
  process.exitCode = valkey.path ? 0 : 1
}
