// `npm pack -w sluice` in a fresh clone: the build finds no compiler, and installs everything, not one workspace.
import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const scripts = fileURLToPath(new URL('.', import.meta.url))
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-install-'))
  for (const name of ['run.mjs', 'install.mjs', 'build.mjs']) {
    cpSync(join(scripts, name), join(folder, 'scripts', name))
  }
  mkdirSync(join(folder, 'packages/sluice/src'), { recursive: true })
  writeFileSync(join(folder, 'packages/sluice/tsconfig.json'), '{}')
  writeFileSync(join(folder, 'package-lock.json'), '{}')
  program('bin/npm', 'echo "npm $* in $npm_config_workspace.$npm_config_dry_run"; exit 7')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('builds install what is missing, whatever npm was told about workspaces', () => {
  expect(build()).toEqual({
    code: 7,
    printed:
      'Installing dependencies (npm ci) ...\nnpm ci --no-audit --no-fund --loglevel=error in .\n',
    errors: 'npm ci failed; see the lines above.\n',
  })
})

test('builds leave alone what is installed', () => {
  program('node_modules/.bin/tsc', 'echo "tsc $1"; exit 3')
  expect(build()).toEqual({ code: 3, printed: 'tsc -p\n', errors: '' })
})

test('two that install at once take turns, and the second finds everything there', async () => {
  program(
    'bin/npm',
    'echo begins; sleep 1; mkdir -p node_modules/.bin; touch node_modules/.package-lock.json; echo ends',
  )
  const [first, second] = await Promise.all([install(), install()])
  const [one, other] = [first, second].toSorted((a, b) => b.length - a.length)
  expect(one).toBe('Installing dependencies (npm ci) ...\nbegins\nends\n')
  // Nothing, if it began when the first had ended.
  expect(['', 'Waiting for another npm ci in this folder ...\n']).toContain(other)
})

test('one that was killed while it installed does not stop the next', async () => {
  const { pid } = spawnSync('true')
  writeFileSync(join(folder, '.installing'), `${pid}`)
  expect(await install()).toBe(
    'Installing dependencies (npm ci) ...\nnpm ci --no-audit --no-fund --loglevel=error in .\n',
  )
  expect(readdirSync(folder)).not.toContain('.installing')
})

test('a node_modules that is a link belongs to somebody else and is left alone', () => {
  mkdirSync(join(folder, 'elsewhere'))
  symlinkSync(join(folder, 'elsewhere'), join(folder, 'node_modules'))
  expect(build()).toEqual({
    code: 127,
    printed: '',
    errors: 'Cannot run tsc: it is not installed. Run npm ci in the root of the workspace.\n',
  })
})

/** What `ensureInstalled` prints in a process of its own. */
async function install(): Promise<string> {
  const code = `(await import('${join(folder, 'scripts/install.mjs')}')).ensureInstalled()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    env: { PATH: `${join(folder, 'bin')}:${process.env['PATH']}` },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return text(child.stdout)
}

function build(): { code: number | null; printed: string; errors: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(folder, 'scripts/build.mjs')],
    {
      encoding: 'utf8',
      env: {
        PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
        npm_config_workspace: 'sluice',
        npm_config_dry_run: 'true',
      },
    },
  )
  return { code: status, printed: stdout, errors: stderr }
}

function program(path: string, script: string): void {
  const file = join(folder, path)
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, 0o755)
}
