// Installs what tests need from Debian's packages, where that is possible.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { run } from './run.mjs'

/** Whether a program is on the PATH. @param {string} name */
export function onPath(name) {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .some((folder) => existsSync(join(folder, name)))
}

/**
 * Makes sure that a program is there: on the PATH, or from apt as root. Gives whether it is.
 * @param {string} program
 * @param {string[]} packages
 */
export async function ensureProgram(program, packages) {
  if (onPath(program)) return true
  if (process.getuid?.() !== 0 || !onPath('apt-get')) return false
  console.log(`Installing ${packages.join(' and ')} (apt-get) ...`)
  const env = { DEBIAN_FRONTEND: 'noninteractive' }
  await run('apt-get', ['update', '-qq'], { env })
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], { env })
  // The packages may start services on the default ports; the tests start their own servers.
  if (onPath('service')) for (const name of packages) await run('service', [name, 'stop'])
  return onPath(program)
}
