// The Dockerfile, read by a linter and carried out by hand: what it copies and runs makes a service that answers.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { validate } from 'dockerfile-utils'
import { DockerfileParser, type Copy } from 'dockerfile-ast'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { freePort } from '../../../../test/servers/ports.ts'
import { until } from '../../../../test/servers/until.ts'
import { buildByHand } from './by-hand.ts'

vi.setConfig({ testTimeout: 300_000 })

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const text = readFileSync(join(root, 'deploy/docker/Dockerfile'), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'sluice-image-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the Dockerfile', () => {
  const parsed = DockerfileParser.parse(text)
  const valuesOf = (keyword: string) =>
    parsed
      .getInstructions()
      .filter((instruction) => instruction.getKeyword() === keyword)
      .map((instruction) => instruction.getArgumentsContent())

  test('has no mistake that a linter knows', () => {
    expect(validate(text)).toEqual([])
    expect(validate('FROM x\nCOPPY a b\n')).not.toEqual([])
  })

  test('ends with a user that has no rights, by number, and a health check', () => {
    expect(valuesOf('USER')).toEqual(['1000:1000'])
    expect(valuesOf('HEALTHCHECK')).toHaveLength(1)
  })

  test('copies what its ignore file lets in, and nothing else', () => {
    const lines = readFileSync(join(root, 'deploy/docker/Dockerfile.dockerignore'), 'utf8').split(
      '\n',
    )
    const letIn = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
    const copied = parsed.getCOPYs().flatMap((instruction: Copy) => {
      if (instruction.getFromFlag() !== null) return []
      return instruction
        .getArguments()
        .slice(0, -1)
        .map((argument) => argument.getValue())
    })
    const within = (path: string, outer: string) => path === outer || path.startsWith(`${outer}/`)
    expect(copied.filter((path) => !letIn.some((outer) => within(path, outer)))).toEqual([])
    expect(letIn.filter((outer) => !copied.some((path) => within(path, outer)))).toEqual([])
    expect(lines).toContain('*')
  })
})

test('its steps make a service that starts, is healthy, and ends when told to', async () => {
  const context = join(folder, 'context')
  mkdirSync(context)
  // What a clone would have, with the changes that are being made.
  const files = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    { cwd: root },
  )
  const packed = execFileSync('tar', ['-c', '--null', '--ignore-failed-read', '-T', '-'], {
    cwd: root,
    input: files,
    maxBuffer: 2 ** 28,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  execFileSync('tar', ['-x'], { cwd: context, input: packed })

  const image = buildByHand(text, {
    context,
    folder,
    run: (command, cwd) => {
      // The tools for development are those that run this test.
      if (/^npm ci (?!.*--omit=dev)/.test(command)) linkTools(cwd)
      else execFileSync('sh', ['-c', command], { cwd, stdio: 'pipe', env: offline() })
    },
  })

  const app = join(image.root, image.workdir)
  const installed = readdirSync(join(app, 'node_modules'))
  expect(installed).toContain('pino')
  for (const name of ['typescript', 'vitest', 'fast-check']) expect(installed).not.toContain(name)

  const port = await freePort()
  const env = {
    PATH: process.env['PATH'],
    ...image.environment,
    SLUICE_HTTP_PORT: String(port),
    SLUICE_SHUTDOWN_DELAY: '1ms',
  }
  const [command, ...args] = [...image.entrypoint, ...image.command].map((word) =>
    word.startsWith('/etc/') ? join(image.root, word) : word,
  )
  const [healthCommand, ...healthArgs] = image.health
  const health = () => spawnSync(healthCommand!, healthArgs, { cwd: app, env }).status
  expect(health()).toBe(1)
  const service = spawn(command!, args, { cwd: app, env, stdio: ['ignore', 'ignore', 'pipe'] })
  onTestFinished(() => void service.kill('SIGKILL'))
  let said = ''
  service.stderr.setEncoding('utf8').on('data', (part: string) => (said += part))
  await until('it listens', 20_000, async () => said.includes('listening'))
  expect(health()).toBe(0)
  const asked = await fetch(`http://127.0.0.1:${port}/v1/check`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ attributes: { user: 'ann' } }),
  })
  expect(await asked.json()).toMatchObject({ allowed: true })
  const ended = new Promise((resolve) => service.once('exit', resolve))
  service.kill('SIGTERM')
  expect(await ended).toBe(0)
})

/** Links the packages of this workspace, except its own, which the stage has itself. Nothing is written into them. */
function linkTools(cwd: string): void {
  const from = join(root, 'node_modules')
  const to = join(cwd, 'node_modules')
  for (const folder of ['.bin', '@sluice']) mkdirSync(join(to, folder), { recursive: true })
  for (const name of readdirSync(from)) {
    if (name.startsWith('.') || name === '@sluice' || name === 'sluice') continue
    symlinkSync(join(from, name), join(to, name))
  }
  for (const name of ['tsc', 'vite'])
    symlinkSync(realpathSync(join(from, '.bin', name)), join(to, '.bin', name))
  symlinkSync('../packages/sluice', join(to, 'sluice'))
  for (const name of ['cli', 'nest', 'server'])
    symlinkSync(`../../packages/${name}`, join(to, '@sluice', name))
}

function offline(): NodeJS.ProcessEnv {
  return { ...process.env, npm_config_prefer_offline: 'true' }
}
