import { describe, expect, test } from 'vitest'
import { problemsOf } from './check-tests.mjs'

const path = 'packages/sluice/test/some.test.ts'

describe('a file of tests', () => {
  test.each([
    ['a sleep', 'await new Promise((resolve) => setTimeout(resolve, 20))', 'waits in real time'],
    [
      'a sleep under another name',
      "import { setTimeout as pause } from 'node:timers/promises'",
      'waits in real time',
    ],
    ['one test alone', "it.only('works', () => {})", 'is left out or run alone'],
    ['a skipped group', "describe.skip('works', () => {})", 'is left out or run alone'],
    ['a test without a body', "test.todo('works')", 'is left out or run alone'],
    [
      'a skipped table',
      "test.concurrent.skip.each([1])('%i', () => {})",
      'is left out or run alone',
    ],
    ['a second try', "test('works', { retry: 2 }, () => {})", 'gets a second try'],
  ])('may not have %s', (_, line, problem) => {
    expect(problemsOf(path, `// first\n${line}\n`)).toEqual([
      expect.stringContaining(`${path}:2: a test ${problem}`),
    ])
  })

  test.each([
    ["vi.useFakeTimers({ toFake: ['setTimeout'] })"],
    ["const set = vi.spyOn(globalThis, 'setTimeout')"],
    ['socket.setTimeout(20, () => socket.end())'],
    ['const send = make({ base: 5, retry: () => true })'],
    ['expect(decision.skipped).toEqual([])'],
    ['describe.skipIf(isMissing)("through", () => {})'],
  ])('may have %s', (line) => {
    expect(problemsOf(path, line)).toEqual([])
  })

  test('may wait if a reason is listed', () => {
    expect(problemsOf('test/servers/until.ts', 'setTimeout(resolve, 20)')).toEqual([])
  })
})
