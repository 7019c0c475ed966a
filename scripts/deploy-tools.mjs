// Makes sure that the tests have what they judge TLS and the unit of systemd with: on PATH, or from apt.
import { ensureProgram } from './debian.mjs'

/** @type {readonly (readonly [program: string, package: string])[]} */
const TOOLS = [
  ['openssl', 'openssl'],
  ['curl', 'curl'],
  ['systemd-analyze', 'systemd'],
]

/** Ends the process with one sentence when one is not there and cannot be installed. */
export async function ensureDeployTools() {
  for (const [program, name] of TOOLS) {
    if (await ensureProgram(program, [name])) continue
    console.error(
      `The tests need ${program}: put it on the PATH (Debian: apt-get install ${name}).`,
    )
    process.exit(1)
  }
}
