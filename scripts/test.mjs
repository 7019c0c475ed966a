// `npm test`: prepares what the tests need, runs vitest, and prints `N passed, N failed` as the last line, however it ends.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from './build.mjs'
import { ensureValkey } from './ensure-valkey.mjs'
import { ensureInstalled } from './install.mjs'
import { root, run, stopAll, tool } from './run.mjs'
import { ensurePrograms } from './test-programs.mjs'
import { countResults, readTallies, TALLY_FILE } from './test-tally.mjs'

const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'))
const tally = join(folder, 'tally.jsonl')
/** `exitCode` is that of the tests, undefined unless they ran to their end. */
const outcome = {
  failedSteps: 0,
  isInterrupted: false,
  exitCode: /** @type {number | undefined} */ (undefined),
}

// At the exit of this process, so that no failure of a step and no signal can leave the line out.
process.once('exit', () => {
  const { failedSteps, isInterrupted, exitCode } = outcome
  const { passed, failed } = countResults(readTallies(tally), {
    failedSteps,
    exitCode: isInterrupted ? undefined : exitCode,
  })
  rmSync(folder, { recursive: true, force: true })
  console.log(`${passed} passed, ${failed} failed`)
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0
})
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  process.on(signal, () => {
    // A second signal does not wait for the tests to end by themselves.
    const patience = outcome.isInterrupted ? 0 : 5000
    outcome.isInterrupted = true
    console.error(`\nInterrupted by ${signal}.`)
    void stopAll(patience).then(() => process.exit(1))
  })
}

await step('Set-up', async () => {
  // npm and apt do not wait for each other; both must end before anything is built.
  const [missing] = await Promise.all([ensurePrograms(), ensureInstalled()])
  for (const sentence of missing) console.error(sentence)
  return missing.length === 0
})
// A failed build is one failure among others: most tests read the sources.
await step('Build', async () => {
  // A test may need Valkey; fetched here, no test has to wait for it.
  const [code] = await Promise.all([build({ onlyChanged: true }), ensureValkey()])
  return code === 0
})

outcome.exitCode = await run(
  tool('vitest'),
  [
    'run',
    '--reporter=default',
    `--reporter=${root}scripts/test-tally.mjs`,
    ...process.argv.slice(2),
  ],
  { env: { [TALLY_FILE]: tally } },
)

/** Runs a step of the preparation and says how long it took. @param {string} name @param {() => Promise<boolean>} work */
async function step(name, work) {
  const start = performance.now()
  const isDone = await work()
  if (!isDone) outcome.failedSteps += 1
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  console.log(`${name}: ${isDone ? 'done' : 'failed'} after ${seconds} s`)
}
