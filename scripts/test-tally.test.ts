import { expect, test } from 'vitest'
import { countResults } from './test-tally.mjs'

const good = { passed: 1, failed: 0, hasErrors: false }
const bad = { passed: 1, failed: 1, hasErrors: true }
const broken = { passed: 0, failed: 0, hasErrors: true }

test.each([
  { name: 'counts the tests of all files', files: [good, bad], exitCode: 1, expected: [2, 1] },
  { name: 'counts a file that did not load', files: [good, broken], exitCode: 1, expected: [1, 1] },
  { name: 'counts an error outside the tests', files: [good], exitCode: 1, expected: [1, 1] },
  { name: 'counts an empty run as a failure', files: [], exitCode: 1, expected: [0, 1] },
  {
    name: 'counts a failed build beside failed tests',
    files: [bad],
    failedSteps: 1,
    exitCode: 1,
    expected: [1, 2],
  },
  {
    name: 'counts a failed build beside tests that all pass',
    files: [good],
    failedSteps: 1,
    exitCode: 0,
    expected: [1, 1],
  },
  {
    name: 'counts a set-up that failed before any test once',
    files: [],
    failedSteps: 1,
    exitCode: undefined,
    expected: [0, 1],
  },
  {
    name: 'counts an interrupted run as a failure',
    files: [good],
    exitCode: undefined,
    expected: [1, 1],
  },
])('$name', ({ files, failedSteps = 0, exitCode, expected }) => {
  const { passed, failed } = countResults(files, { failedSteps, exitCode })
  expect([passed, failed]).toEqual(expected)
})
