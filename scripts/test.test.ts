// `npm test` in a scratch workspace whose programs are stubs: however it ends, the last line has the numbers.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'

const scripts = fileURLToPath(new URL('.', import.meta.url))
const COPIED = 'build ensure-valkey install run test test-programs test-tally'
  .split(' ')
  .map((name) => `${name}.mjs`)
const PROGRAMS =
  'redis-server promtool nginx haproxy caddy openssl curl git systemd-analyze zsh cc python3 valkey-server chromium tc'
const threePass = `echo '{"passed":3,"failed":0,"hasErrors":false}' >> "$SLUICE_TEST_TALLY"`
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-npm-test-'))
  const created = folder
  onTestFinished(() => rmSync(created, { recursive: true, force: true }))
  for (const name of COPIED) cpSync(join(scripts, name), join(folder, 'scripts', name))
  mkdirSync(join(folder, 'packages/sluice/src'), { recursive: true })
  writeFileSync(join(folder, 'packages/sluice/package.json'), '{}')
  writeFileSync(join(folder, 'packages/sluice/tsconfig.json'), '{}')
  writeFileSync(join(folder, 'package-lock.json'), '{}')
  for (const name of PROGRAMS.split(' ')) program(`bin/${name}`, 'exit 0')
  // tsc -p <folder> --outDir <folder>
  program('node_modules/.bin/tsc', '/bin/mkdir -p "$4"')
  program('node_modules/.bin/vitest', threePass)
  program('bin/npm', 'exit 0')
})

describe('the last line of npm test', () => {
  test('has the numbers of a run that passes', async () => {
    expect(await npmTest()).toEqual({ code: 0, last: '3 passed, 0 failed' })
  })

  test('counts a run that fails', async () => {
    const oneFails = `echo '{"passed":2,"failed":1,"hasErrors":true}' >> "$SLUICE_TEST_TALLY"`
    program('node_modules/.bin/vitest', `${threePass}\n${oneFails}\nexit 1`)
    expect(await npmTest()).toEqual({ code: 1, last: '5 passed, 1 failed' })
  })

  test('counts a build that fails, and the tests run nevertheless', async () => {
    program('node_modules/.bin/tsc', 'exit 2')
    expect(await npmTest()).toEqual({ code: 1, last: '3 passed, 1 failed' })
  })

  test('counts dependencies that cannot be installed', async () => {
    rmSync(join(folder, 'node_modules'), { recursive: true })
    program('bin/npm', 'exit 7')
    expect(await npmTest()).toEqual({ code: 1, last: '0 passed, 1 failed' })
  })

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'has the numbers so far when %s interrupts the tests',
    async (signal) => {
      program('node_modules/.bin/vitest', `${threePass}\necho begun\nexec /bin/sleep 60`)
      const interrupted = await npmTest((child, printed) => {
        if (printed.includes('begun')) child.kill(signal)
      })
      expect(interrupted).toEqual({ code: 1, last: '3 passed, 1 failed' })
    },
  )

  test('is there when vitest is killed', async () => {
    program('node_modules/.bin/vitest', `${threePass}\nkill -9 $$`)
    expect(await npmTest()).toEqual({ code: 1, last: '3 passed, 1 failed' })
  })
})

/** Runs the script; `onOutput` sees all that it has printed so far. */
async function npmTest(
  onOutput: (child: ReturnType<typeof spawn>, printed: string) => void = () => {},
): Promise<{ code: number; last: string | undefined }> {
  const child = spawn(process.execPath, [join(folder, 'scripts/test.mjs')], {
    env: { PATH: join(folder, 'bin') },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
    onOutput(child, printed)
  })
  const [code] = (await once(child, 'close')) as [number]
  return { code, last: printed.trimEnd().split('\n').at(-1) }
}

function program(path: string, script: string): void {
  const file = join(folder, path)
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, 0o755)
}
