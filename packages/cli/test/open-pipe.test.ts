// `sluice replay` on a pipe that stays open, ended by Ctrl+C.
import { expect, test } from 'vitest'
import { sluice } from './sluice.ts'
import { lineOf, START } from './test-log.ts'

test('the first SIGINT ends the reading and prints the result so far', async () => {
  const { child, ended } = sluice(['replay', '--try', '5/min'], {}, undefined, 'pipe')
  // More than a pipe holds: once it is written, the command reads.
  const lines = `${lineOf(START, '192.0.2.1')}\n`.repeat(10_000)
  await new Promise((resolve) => child.stdin!.write(lines, resolve))
  child.kill('SIGINT')
  const { code, printed } = await ended
  expect(code).toBe(130)
  expect(printed).toMatch(/^So far, 5\/min by token bucket would have refused/)
})
