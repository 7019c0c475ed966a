// Makes sure that the tests have the proxies of deploy/: on PATH, or from apt.
import { ensureProgram } from './debian.mjs'

const PROXIES = ['nginx', 'haproxy', 'caddy']

/** Ends the process with one sentence when one is not there and cannot be installed. */
export async function ensureProxies() {
  for (const name of PROXIES) {
    if (await ensureProgram(name, [name])) continue
    console.error(`The tests need ${name}: put it on the PATH (Debian: apt-get install ${name}).`)
    process.exit(1)
  }
}
