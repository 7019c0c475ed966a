import { expect, test } from 'vitest'
import { countResults } from './test-counts.mjs'

const file = (status: string, ...tests: string[]) => ({
  status,
  assertionResults: tests.map((each) => ({ status: each })),
})
const good = file('passed', 'passed')
const bad = file('failed', 'failed', 'passed')

test.each([
  { name: 'counts tests over all files', files: [good, bad], build: 0, tests: 1, expected: [2, 1] },
  {
    name: 'leaves skipped tests out',
    files: [file('passed', 'passed', 'pending', 'todo')],
    build: 0,
    tests: 0,
    expected: [1, 0],
  },
  {
    name: 'counts a file that did not load',
    files: [good, file('failed')],
    build: 0,
    tests: 1,
    expected: [1, 1],
  },
  {
    name: 'counts an error outside the tests',
    files: [good],
    build: 0,
    tests: 1,
    expected: [1, 1],
  },
  {
    name: 'counts a broken build beside failed tests',
    files: [bad],
    build: 2,
    tests: 1,
    expected: [1, 2],
  },
  { name: 'counts an empty run as a failure', files: [], build: 0, tests: 1, expected: [0, 1] },
])('$name', ({ files, build, tests, expected }) => {
  const { passed, failed } = countResults({ testResults: files }, { build, tests })
  expect([passed, failed]).toEqual(expected)
})
