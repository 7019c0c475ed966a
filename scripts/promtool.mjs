// Makes sure that the tests of metrics have promtool: on PATH, or from apt.
import { ensureProgram } from './debian.mjs'

/** Ends the process with one sentence when it is not there and cannot be installed. */
export async function ensurePromtool() {
  if (await ensureProgram('promtool', ['prometheus'])) return
  console.error(
    'The tests need promtool: put it on the PATH (Debian: apt-get install prometheus; macOS: brew install prometheus).',
  )
  process.exit(1)
}
