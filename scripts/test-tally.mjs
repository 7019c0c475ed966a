// A vitest reporter that writes down the result of each test file when it ends, so that an interrupted run can be counted too.
import { appendFileSync, readFileSync } from 'node:fs'

/** @typedef {{ passed: number, failed: number, hasErrors: boolean }} FileTally */

/** The variable that names the file to write to. */
export const TALLY_FILE = 'SLUICE_TEST_TALLY'

export default class TallyReporter {
  /** @param {import('vitest/node').TestModule} module */
  onTestModuleEnd(module) {
    const file = process.env[TALLY_FILE]
    if (file !== undefined) appendFileSync(file, `${JSON.stringify(tallyOf(module))}\n`)
  }
}

/** @param {import('vitest/node').TestModule} module @returns {FileTally} */
function tallyOf(module) {
  const states = Array.from(module.children.allTests(), (test) => test.result().state)
  return {
    passed: states.filter((state) => state === 'passed').length,
    failed: states.filter((state) => state === 'failed').length,
    hasErrors: module.state() === 'failed',
  }
}

/** The tallies that were written to a file; none if there is no such file. @param {string} file @returns {FileTally[]} */
export function readTallies(file) {
  try {
    const lines = readFileSync(file, 'utf8').split('\n')
    return lines.filter(Boolean).map((line) => JSON.parse(line))
  } catch {
    return []
  }
}

/**
 * The two numbers that `npm test` ends with. A failure that is not a test counts as well: each failed step of the
 * set-up, a test file that did not load, and a run that ended with an error although no test failed.
 * @param {readonly FileTally[]} files
 * @param {{ failedSteps: number, exitCode: number | undefined }} run `exitCode` is undefined if the tests did not end.
 */
export function countResults(files, { failedSteps, exitCode }) {
  const passed = files.reduce((sum, file) => sum + file.passed, 0)
  const inTests = files.reduce(
    (sum, file) => sum + (file.hasErrors ? Math.max(file.failed, 1) : file.failed),
    0,
  )
  const isUnexplained =
    exitCode !== 0 && inTests === 0 && (exitCode !== undefined || failedSteps === 0)
  return { passed, failed: inTests + failedSteps + (isUnexplained ? 1 : 0) }
}
