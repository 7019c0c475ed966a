// Makes sure that the Redis tests have a server to start: REDIS_URL, a redis-server on PATH, or one from apt.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { run } from './run.mjs'

const packages = ['redis-server', 'redis-sentinel']

/** Ends the process with one sentence when there is no server and none can be installed. */
export async function ensureRedisServer() {
  if (process.env['REDIS_URL'] || onPath('redis-server')) return
  if (process.getuid?.() === 0 && onPath('apt-get')) {
    console.log(`Installing ${packages.join(' and ')} (apt-get) ...`)
    await installWithApt()
    if (onPath('redis-server')) return
  }
  console.error(
    'The tests need Redis: put redis-server on the PATH (Debian: apt-get install redis-server redis-sentinel; macOS: brew install redis) or set REDIS_URL.',
  )
  process.exit(1)
}

async function installWithApt() {
  const env = { DEBIAN_FRONTEND: 'noninteractive' }
  await run('apt-get', ['update', '-qq'], { env })
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], { env })
  // The packages may start services on the default ports; the tests start their own servers.
  if (!onPath('service')) return
  for (const name of packages) await run('service', [name, 'stop'])
}

/** @param {string} name */
function onPath(name) {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .some((folder) => existsSync(join(folder, name)))
}
