// Turns vitest's JSON report into the two numbers that `npm test` ends with.

/** @typedef {{ status: string, assertionResults: { status: string }[] }} FileResult */

/**
 * Counts tests, and never lets a failure that is not a test go uncounted: a broken build is one failure,
 * so is a file that did not load, and so is a run that exited with an error although no test failed.
 * @param {{ testResults: FileResult[] }} report
 * @param {{ build: number, tests: number }} exitCodes
 */
export function countResults(report, exitCodes) {
  let passed = 0
  let failed = 0
  for (const file of report.testResults) {
    const failures = count(file, 'failed')
    passed += count(file, 'passed')
    failed += file.status === 'failed' ? Math.max(failures, 1) : failures
  }
  if (failed === 0 && exitCodes.tests !== 0) failed = 1
  if (exitCodes.build !== 0) failed += 1
  return { passed, failed }
}

/** @param {FileResult} file @param {string} status */
function count(file, status) {
  return file.assertionResults.filter((test) => test.status === status).length
}
