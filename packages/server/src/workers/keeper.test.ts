import { fork } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { until } from '../../../../test/servers/until.ts'
import { Keeper } from './keeper.ts'

vi.setConfig({ testTimeout: 30_000 })

/** Keeps a process that runs some code. */
function kept(code: string, settled = 10_000) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-keeper-'))
  const file = join(folder, 'child.mjs')
  writeFileSync(file, code)
  const started: number[] = []
  const ends: [how: string, failures: number][] = []
  const keeper = new Keeper({
    start: () => {
      started.push(performance.now())
      return fork(file)
    },
    onEnd: (_, how, failures) => void ends.push([how, failures]),
    settled,
  })
  onTestFinished(async () => {
    await keeper.stop({ type: 'stop' }, 0)
    rmSync(folder, { recursive: true, force: true })
  })
  return { keeper, started, ends }
}

const OBEDIENT = `process.on('message', () => process.exit(0)); process.send({ type: 'ready' })`

test('a process that is killed is started again', async () => {
  const { keeper, ends } = kept(OBEDIENT, 0)
  for (let round = 0; round < 3; round++) {
    await until('it is ready', 10_000, async () => keeper.isReady)
    const { pid } = keeper
    process.kill(pid!, 'SIGKILL')
    await until('another is ready', 10_000, async () => keeper.isReady && keeper.pid !== pid)
  }
  expect(ends).toEqual(Array.from({ length: 3 }, () => ['SIGKILL', 1]))
})

test('one that ends at once is tried ever more seldom, and counted', async () => {
  const { started, ends } = kept('process.exit(3)')
  await until('it has ended', 20_000, async () => ends.length === 4)
  expect(ends.map(([how, failures]) => `${how} ${failures}`)).toEqual([
    'exit code 3 1',
    'exit code 3 2',
    'exit code 3 3',
    'exit code 3 4',
  ])
  const waits = started.slice(1).map((at, i) => at - started[i]!)
  expect(waits[0]).toBeGreaterThanOrEqual(99)
  expect(waits[1]).toBeGreaterThanOrEqual(199)
  expect(waits[2]).toBeGreaterThanOrEqual(399)
})

test('one that is asked to end is not started again', async () => {
  const { keeper, started, ends } = kept(OBEDIENT)
  await until('it is ready', 10_000, async () => keeper.isReady)
  await keeper.stop({ type: 'stop' }, 10_000)
  expect(ends).toEqual([['exit code 0', 1]])
  expect([keeper.pid, started.length]).toEqual([undefined, 1])
})

test('one that does not listen is killed when patience ends', async () => {
  const { keeper, ends } = kept(`setInterval(() => {}, 1000); process.send({ type: 'ready' })`)
  await until('it is ready', 10_000, async () => keeper.isReady)
  await keeper.stop({ type: 'stop' }, 50)
  expect(ends).toEqual([['SIGKILL', 1]])
})

test('a stop between two starts ends the trying', async () => {
  const { keeper, started, ends } = kept('process.exit(1)')
  await until('it has ended', 10_000, async () => ends.length === 2)
  const before = started.length
  await keeper.stop({ type: 'stop' }, 0)
  await new Promise((resolve) => setTimeout(resolve, 400))
  expect(started.length).toBe(before)
  expect(keeper.pid).toBe(undefined)
})
