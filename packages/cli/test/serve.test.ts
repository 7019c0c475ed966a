import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../../../test/servers/redis-server.ts'
import { until } from '../../../test/servers/until.ts'
import { fileWith, sluice, urlOf } from './sluice.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const sample = `${root}examples/service/sluice.yaml`
const anyPort = { SLUICE_HTTP_PORT: '0', SLUICE_SHUTDOWN_DELAY: '1ms' }
const yaml = (quota: number) =>
  `policies: [{ name: api, rules: [{ name: all, by: [], limit: ${quota}/h }] }]\n`

test('npm links the command in a fresh clone: its file is there before anything is built', () => {
  const cli = `${root}packages/cli/`
  const { bin } = JSON.parse(readFileSync(`${cli}package.json`, 'utf8')) as {
    bin: { sluice: string }
  }
  expect(statSync(join(cli, bin.sluice)).mode & 0o111).toBe(0o111)
  const copy = join(dirname(fileWith('')), 'sluice.mjs')
  copyFileSync(join(cli, bin.sluice), copy)
  const { status, stderr } = spawnSync(process.execPath, [copy, 'check'], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([
    1,
    'error: the sluice command is not built yet; accepted: npm run build\n',
  ])
})

test('the banner says what is limited, and its three commands run', async () => {
  const service = sluice(['serve', sample], anyPort)
  const url = await urlOf(service)
  const banner = service.printed()
  expect(banner).toContain('per-user   5/10s (token bucket) for each user')
  expect(banner).toContain('Counts live in this process')
  const commands = banner.split('\n').filter((line) => line.startsWith('  curl'))
  expect(commands).toHaveLength(3)
  const [first, second, third] = commands.map((line) => {
    expect(line).toContain(url)
    return execFileSync('sh', ['-c', line], { encoding: 'utf8' })
  })
  expect(JSON.parse(first!)).toMatchObject({ allowed: true, rule: 'per-user', remaining: 4 })
  expect(JSON.parse(second!)).toMatchObject({ allowed: false, rule: 'per-user' })
  expect(third).toContain('rule="per-user",result="refused"} 1')
})

test('the banner says what the reverse proxy is in front of', async () => {
  const upstream = 'http://127.0.0.1:1'
  const env = { ...anyPort, SLUICE_PROXY_PORT: '0' }
  const service = sluice(['serve', fileWith(yaml(5)), '--upstream', upstream], env)
  await urlOf(service)
  expect(service.printed()).toMatch(
    /Listening for proxy on http:\/\/127\.0\.0\.1:\d+, in front of http:\/\/127\.0\.0\.1:1\n/,
  )
})

test('--console prints a link that signs in, with several workers too', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const env = { ...anyPort, SLUICE_ADMIN_PORT: '0' }
  const file = fileWith(`store: ${redis.url}\n${yaml(5)}`)
  const service = sluice(['serve', file, '--console', '--workers', '2'], env)
  await urlOf(service)
  const [, url, code] = /(http:\S+)\/#sign-in=(\S+)/.exec(service.printed())!
  const signIn = async () => {
    const headers = { 'sluice-console': '1', 'content-type': 'application/json' }
    const body = JSON.stringify({ code })
    return (await fetch(`${url}/console/sign-in`, { method: 'POST', headers, body })).status
  }
  expect(await signIn()).toBe(200)
  // Each time some worker answers.
  for (let i = 0; i < 4; i++) expect(await signIn()).toBe(403)
})

test.each(['SIGINT', 'SIGTERM'] as const)('%s ends it cleanly', async (signal) => {
  const service = sluice(['serve', sample], anyPort)
  // The connection of this request stays open; it must not hold the process.
  await (await fetch(`${await urlOf(service)}/healthz`)).text()
  service.child.kill(signal)
  const { code, errors } = await service.ended
  expect(code).toBe(0)
  expect(errors).toContain('"msg":"stopped"')
})

test('SIGHUP reads the file again', async () => {
  const file = fileWith(yaml(5))
  const service = sluice(['serve', '--no-watch', file], anyPort)
  const url = await urlOf(service)
  writeFileSync(file, yaml(7))
  service.child.kill('SIGHUP')
  await until('the policies change', 10_000, async () =>
    (await (await fetch(`${url}/v1/policies`)).text()).includes('"quota":7'),
  )
  expect(service.errors()).toContain('the changed policies are in force')
})

test('logs are one JSON object a line, and standard output can be silent', async () => {
  const service = sluice(['serve', '--no-banner', sample], anyPort)
  await until('it listens', 20_000, async () => service.errors().includes('listening'))
  service.child.kill('SIGINT')
  const { printed, errors } = await service.ended
  expect(printed).toBe('')
  const lines = errors.trim().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
    'listening',
    'draining',
    'stopped',
  ])
})

test('a bad file is refused with every mistake, before anything listens', async () => {
  const { code, errors, printed } = await sluice(['serve', fileWith('policies: 5\nlog: x\n')]).ended
  expect([code, printed]).toEqual([1, ''])
  expect(errors).toMatch(/error: .*:1:11: policies is 5; .*\nerror: .*:2:6: log is "x"; /)
})

test.each([
  ['HTTP', { SLUICE_HTTP_PORT: '0' }],
  ['GRPC', {}],
  ['PROXY', { SLUICE_PROXY_UPSTREAM: 'http://127.0.0.1:1' }],
  ['ADMIN', { SLUICE_ADMIN_TOKEN: 'a-token-of-at-least-24-characters' }],
])('a port in use is one sentence: %s', async (name, more) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const variable = `SLUICE_${name}_PORT`
  const env = { ...anyPort, ...more, [variable]: `${port}` }
  const { code, errors } = await sluice(['serve', fileWith(yaml(5))], env).ended
  // A machine that may open few files is warned of in the log.
  const sentences = errors.split('\n').filter((line) => !line.startsWith('{'))
  expect([code, sentences.join('\n')]).toEqual([
    1,
    `error: cannot listen on 127.0.0.1:${port}: it is in use; choose another port, such as ${variable}=${port + 1}\n`,
  ])
  other.close()
})

test.each([
  ['--upstream', 'ftp://a', {}, '--upstream is "ftp://a"; accepted: a URL'],
  ['--workers', 'many', {}, '--workers is "many"; accepted: a whole number'],
  [
    '--workers',
    '1',
    { SLUICE_PROXY_UPSTREAM: 'x' },
    'environment: SLUICE_PROXY_UPSTREAM is "x"; accepted: a URL',
  ],
])('a mistake in %s %s %o is reported where it was made', async (flag, value, env, sentence) => {
  const { code, errors } = await sluice(['serve', sample, flag, value], { ...anyPort, ...env })
    .ended
  expect([code, errors.slice(0, sentence.length + 7)]).toEqual([1, `error: ${sentence}`])
})
