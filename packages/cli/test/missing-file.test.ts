// Every command that reads a file, on one that does not exist and on a folder: one sentence and exit code 2.
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { diffCommand } from '../src/commands/diff.ts'
import { importCommand } from '../src/commands/import.ts'
import { replayCommand } from '../src/commands/replay.ts'
import { simulateCommand } from '../src/commands/simulate.ts'
import { Unreadable } from '../src/terminal/mistake.ts'
import { fileWith, sluice } from './sluice.ts'
import { streamsWith } from './test-log.ts'

const policy = 'policies: [{ name: api, rules: [{ name: all, by: [ip], limit: 5/min }] }]'
const missing = '/no/such/file'
const commands: readonly (readonly [string, (file: string) => Promise<number>])[] = [
  ['replay', (file) => replayCommand([file], { try: '10/min' }, streamsWith())],
  ['replay --policy', (file) => replayCommand([], { policy: file }, streamsWith())],
  ['import', (file) => importCommand('nginx', file, {}, streamsWith())],
  ['simulate', (file) => simulateCommand(file, {}, streamsWith())],
  ['diff', (file) => diffCommand(fileWith(policy), file, {}, streamsWith())],
  [
    'diff --against',
    (file) => diffCommand(fileWith(policy), fileWith(policy), { against: [file] }, streamsWith()),
  ],
]

test.each(commands)('%s says in one sentence that a file cannot be read', async (_, run) => {
  await expect(run(missing)).rejects.toThrow(
    new Unreadable(`${missing}: cannot be read: there is no such file`),
  )
  const folder = run(tmpdir())
  await expect(folder).rejects.toBeInstanceOf(Unreadable)
  await expect(folder).rejects.toThrow(/: cannot be read: it is a folder$/)
})

test('the sentence is all that is printed, with exit code 2', async () => {
  const { code, errors } = await sluice(['replay', tmpdir(), '--try', '10/min']).ended
  expect(errors).toBe(`error: ${tmpdir()}: cannot be read: it is a folder\n`)
  expect(code).toBe(2)
})
