// Names the programs that the tests start, and installs the missing ones from Debian's packages, all in one go.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { run } from './run.mjs'

/** @typedef {{ name: string, packages: string[], isInstalled?: () => boolean }} Program */

/** Python interpreters to look at: one of a version manager may hide the system's, which has Debian's packages. */
const pythons = ['python3', '/usr/bin/python3']

/** @type {readonly Program[]} */
const PROGRAMS = [
  { name: 'redis-server', packages: ['redis-server', 'redis-sentinel'] },
  { name: 'promtool', packages: ['prometheus'] },
  { name: 'nginx', packages: ['nginx'] },
  { name: 'haproxy', packages: ['haproxy'] },
  { name: 'caddy', packages: ['caddy'] },
  {
    // The shell is the same engine without the window around it, and takes a third of the processor time.
    name: 'Chromium',
    packages: ['chromium-headless-shell'],
    isInstalled: () => findChromium() !== undefined,
  },
  { name: 'openssl', packages: ['openssl'] },
  { name: 'curl', packages: ['curl'] },
  { name: 'git', packages: ['git'] },
  { name: 'systemd-analyze', packages: ['systemd'] },
  { name: 'zsh', packages: ['zsh'] },
  { name: 'cc', packages: ['gcc', 'libc6-dev'] },
  {
    // Networks of their own, in which packets get lost: only root may make one.
    name: 'tc',
    packages: ['iproute2'],
    isInstalled: () => process.getuid?.() !== 0 || isOnPath('tc'),
  },
  {
    name: 'Python with grpcio',
    packages: ['python3-grpcio'],
    isInstalled: () => findPythonGrpc() !== undefined,
  },
]

/** The Python interpreter that has grpcio, or undefined. */
export function findPythonGrpc() {
  return pythons.find((python) => spawnSync(python, ['-c', 'import grpc']).status === 0)
}

/** The path of Chromium, preferably of its headless shell, or undefined. */
export function findChromium() {
  return pathOf('chromium-headless-shell') ?? pathOf('chromium')
}

/** Whether a program is on the PATH. @param {string} name */
export function isOnPath(name) {
  return pathOf(name) !== undefined
}

/** Where on the PATH a program is, or undefined. @param {string} name */
function pathOf(name) {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path))
}

/**
 * Installs what is missing of the named programs (by default all of them), as root on Debian. Returns a sentence for
 * each that is still missing.
 * @param {readonly string[]} [names]
 * @returns {Promise<string[]>}
 */
export async function ensurePrograms(names) {
  const wanted = PROGRAMS.filter(({ name }) => names?.includes(name) ?? true)
  const missing = wanted.filter((program) => !isInstalled(program))
  if (missing.length === 0) return []
  if (process.getuid?.() === 0 && isOnPath('apt-get')) {
    await installPackages(missing.flatMap(({ packages }) => packages))
  }
  return missing
    .filter((program) => !isInstalled(program))
    .map(
      ({ name, packages }) =>
        `The tests need ${name}: put it on the PATH (Debian: apt-get install ${packages.join(' ')}).`,
    )
}

/** @param {Program} program */
function isInstalled({ name, isInstalled = () => isOnPath(name) }) {
  return isInstalled()
}

/** @param {string[]} packages */
async function installPackages(packages) {
  console.log(`Installing ${packages.join(', ')} (apt-get) ...`)
  const env = { DEBIAN_FRONTEND: 'noninteractive' }
  await run('apt-get', ['update', '-qq'], { env })
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], { env })
  // Some packages start a service on its default port; the tests start their own servers.
  if (isOnPath('service')) {
    for (const name of packages) {
      if (existsSync(`/etc/init.d/${name}`)) await run('service', [name, 'stop'])
    }
  }
}
