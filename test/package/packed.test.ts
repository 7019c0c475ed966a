// Uses the package the way its users do: packed, installed into scratch projects, imported, required and compiled.
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { build } from '../../scripts/build.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'sluice-packed-'))
const minute = 60_000
let tarball: string
let installed: string

beforeAll(async () => {
  // Without its `prepack`, which would swap the build under the tests that run beside this one.
  await build({ onlyChanged: true })
  const args = ['pack', '--ignore-scripts', '--silent', '--pack-destination', scratch]
  run('npm', args, join(root, 'packages/sluice'))
  tarball = join(scratch, readdirSync(scratch).find((name) => name.endsWith('.tgz')) ?? '')
  installed = join(scratch, 'installed')
  mkdirSync(installed)
  writeFileSync(join(installed, 'package.json'), '{ "private": true }')
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--silent', tarball], installed)
}, minute)

afterAll(() => rmSync(scratch, { recursive: true, force: true }))

test('works as an ES module', { timeout: minute }, () => {
  const folder = project('esm', 'module', {
    'main.js': `import { createLimiter, limit, parsePolicy } from 'sluice'\n${threeChecks}`,
  })
  expect(run('node', ['main.js'], folder)).toBe(threeAnswers)
})

test('works with require, without a warning', { timeout: minute }, () => {
  const folder = project('cjs', 'commonjs', {
    'main.js': `process.on('warning', (warning) => console.log(warning.message))
const { createLimiter, limit, parsePolicy } = require('sluice')\n${threeChecks}`,
  })
  expect(run('node', ['main.js'], folder)).toBe(threeAnswers)
})

test('opens its public entries and nothing else', { timeout: minute }, () => {
  const entries = publicEntries()
  const folder = project('entries', 'module', {
    'main.js': `
      for (const entry of process.argv.slice(2)) {
        console.log(entry, await import(entry).then(() => 'opens', (error) => error.code))
      }`,
  })
  const inner = ['sluice/limit', 'sluice/dist/index.js']
  expect(entries).toContain('sluice')
  expect(
    run('node', ['main.js', ...entries, ...inner], folder)
      .trim()
      .split('\n'),
  ).toEqual([
    ...entries.map((entry) => `${entry} opens`),
    ...inner.map((entry) => `${entry} ERR_PACKAGE_PATH_NOT_EXPORTED`),
  ])
})

test('carries the build and its licence, and no sources or tests', () => {
  const files = packedFiles()
  expect(files).toEqual(expect.arrayContaining(['package/LICENSE', 'package/dist/index.js']))
  expect(files.filter((name) => /\/src\/|\.test\./.test(name))).toEqual([])
})

test.each(['module', 'commonjs'])(
  'compiles in a strict TypeScript %s project',
  { timeout: minute },
  (type) => {
    const folder = project(`types-${type}`, type, {
      'tsconfig.json': JSON.stringify({
        compilerOptions: {
          module: 'nodenext',
          target: 'es2023',
          lib: ['es2023', 'dom'],
          types: [],
          strict: true,
          exactOptionalPropertyTypes: true,
          noEmit: true,
          // The declarations themselves are checked too: they are part of what we ship.
          skipLibCheck: false,
        },
        include: ['main.ts'],
      }),
      'main.ts': `
      import { createLimiter } from 'sluice'
      ${publicEntries()
        .map((entry) => `import '${entry}'`)
        .join('\n')}

      const limiter = createLimiter({ limit: '2/min' })
      export const allowed: boolean = limiter.check('a').allowed

      // @ts-expect-error a limit is not a boolean
      createLimiter({ limit: true })
      // @ts-expect-error the key is not optional
      limiter.check()
    `,
    })
    expect(run(join(root, 'node_modules/.bin/tsc'), ['-p', '.'], folder)).toBe('')
  },
)

const threeChecks = `
if (typeof limit !== 'function' || typeof parsePolicy !== 'function') throw new Error('an export is missing')
const limiter = createLimiter({ limit: '2/min' })
for (let i = 0; i < 3; i++) console.log(limiter.check('a').allowed)
limiter.close()
`
const threeAnswers = 'true\ntrue\nfalse\n'

function packedFiles(): string[] {
  return run('tar', ['-tzf', tarball], scratch).trim().split('\n')
}

/** The modules that the manifest exports; that each of them is in the tarball is for publint to say. */
function publicEntries(): string[] {
  const manifest = JSON.parse(readFileSync(join(root, 'packages/sluice/package.json'), 'utf8')) as {
    exports: Record<string, string | { default: string }>
  }
  const files = packedFiles()
  return Object.entries(manifest.exports)
    .filter(
      ([, target]) =>
        typeof target !== 'string' && files.includes(posix.join('package', target.default)),
    )
    .map(([entry]) => posix.join('sluice', entry))
}

/** A scratch project with the package as npm has installed it from the tarball. */
function project(name: string, type: string, files: Record<string, string>): string {
  const folder = join(scratch, name)
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, private: true, type }))
  for (const [path, content] of Object.entries(files)) writeFileSync(join(folder, path), content)
  cpSync(join(installed, 'node_modules'), join(folder, 'node_modules'), { recursive: true })
  return folder
}

/** The standard output of a command; a failure carries all it printed. */
function run(command: string, args: string[], cwd: string): string {
  try {
    return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error })
  }
}
