import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'

const scripts = fileURLToPath(new URL('.', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'sluice-run-'))
// A workspace in which nothing is installed.
cpSync(join(scripts, 'run.mjs'), join(folder, 'scripts/run.mjs'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each([
  [
    "tool('tsc')",
    'Cannot run tsc: it is not installed. Run npm ci in the root of the workspace.\n',
  ],
  ["'no-such-tool'", 'Cannot run no-such-tool: there is none on the PATH.\n'],
])('a missing tool, %s, is one sentence and exit code 127', (command, sentence) => {
  expect(ends(`${command}, ['--version']`)).toEqual({ printed: 'code 127\n', errors: sentence })
})

test('a folder that is missing is not taken for a missing tool', () => {
  expect(ends(`process.execPath, ['--version'], { cwd: '/no/such/folder' }`)).toEqual({
    printed: 'code 127\n',
    errors: `Cannot run node: there is no folder /no/such/folder.\n`,
  })
})

test.each([
  [0, 'process.exit(0)'],
  [3, 'process.exit(3)'],
  [1, "process.kill(process.pid, 'SIGKILL')"],
])('gives the exit code, here %i', (code, script) => {
  expect(ends(`process.execPath, ['-e', ${JSON.stringify(script)}]`)).toEqual({
    printed: `code ${code}\n`,
    errors: '',
  })
})

/** What a script that runs one command prints. */
function ends(args: string): { printed: string; errors: string } {
  const main = join(folder, 'scripts/main.mjs')
  writeFileSync(
    main,
    `import { run, tool } from './run.mjs'
void tool
console.log('code ' + (await run(${args})))`,
  )
  const { stdout, stderr } = spawnSync(process.execPath, [main], { encoding: 'utf8' })
  return { printed: stdout, errors: stderr }
}
