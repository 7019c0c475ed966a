import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { unifiedDiff } from './unified-diff.ts'

const numbered = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, i) => `line ${from + i}\n`).join('')

it('shows the changed lines with three around them', () => {
  const before = numbered(1, 20)
  const after = before.replace('line 9\n', 'line nine\n').replace('line 11\n', '')
  expect(unifiedDiff(before, after, 'sluice.yaml')).toBe(
    [
      '--- sluice.yaml',
      '+++ sluice.yaml',
      '@@ -6,9 +6,8 @@',
      ' line 6',
      ' line 7',
      ' line 8',
      '-line 9',
      '+line nine',
      ' line 10',
      '-line 11',
      ' line 12',
      ' line 13',
      ' line 14',
      '',
    ].join('\n'),
  )
})

it('is empty when nothing changed', () => {
  expect(unifiedDiff('a\n', 'a\n', 'f')).toBe('')
})

it.each([
  ['a changed line', numbered(1, 9), numbered(1, 9).replace('line 5', 'line five')],
  ['a line removed at the end', numbered(1, 5), numbered(1, 4)],
  ['a line added at the start', numbered(2, 5), numbered(1, 5)],
  ['a repeated line', 'a\na\nb\n', 'a\na\na\nb\n'],
  ['all lines', numbered(1, 700), numbered(1001, 1600)],
])('is read by git apply: %s', (_, before, after) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-diff-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'f.yaml'), before)
  const { status, stderr } = spawnSync('git', ['apply', '-p0', '-'], {
    cwd: folder,
    input: unifiedDiff(before, after, 'f.yaml'),
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, ''])
  expect(readFileSync(join(folder, 'f.yaml'), 'utf8')).toBe(after)
})
