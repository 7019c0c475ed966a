import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const plugin = fileURLToPath(new URL('no-spread-arguments.mjs', import.meta.url))

/** The numbers of the lines in which the rule finds a spread list. */
async function linesOf(source: string): Promise<number[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-lint-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const config = join(folder, 'oxlint.json')
  const rules = { 'sluice/no-spread-arguments': 'error' }
  writeFileSync(config, JSON.stringify({ jsPlugins: [plugin], rules }))
  writeFileSync(join(folder, 'source.ts'), source)
  const args = [
    'oxlint',
    '-c',
    config,
    '-f',
    'unix',
    '-A',
    'all',
    '--disable-nested-config',
    folder,
  ]
  const run = promisify(execFile)('npx', args, { cwd: root })
  const { stdout } = await run.catch((error: { stdout: string }) => error)
  return [...stdout.matchAll(/source\.ts:(\d+):.*no-spread-arguments/g)].map(([, n]) => Number(n))
}

it('finds lists that are spread into calls, and leaves arguments that are passed on', async () => {
  const source = [
    'target.push(...list)',
    'Math.max(0, ...list.map(Number))',
    'new Thing(...list)',
    'const pass = (...args: unknown[]) => call(first, ...args)',
    'const copy = [...list]',
    'const both = { ...one }',
    'call(...[1, 2])',
  ]
  expect(await linesOf(source.join('\n'))).toEqual([1, 2, 3])
})
