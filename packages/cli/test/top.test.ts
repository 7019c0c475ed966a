import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join, dirname } from 'node:path'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../../../test/servers/until.ts'
import { fileWith, sluice, urlOf } from './sluice.ts'

const TOKEN = 'operator-token-for-tests-0123456789'
const yaml = `policies: [{ name: api, rules: [{ name: per-user, by: [user], limit: 5/h }] }]
listeners: { http: { port: 0 }, admin: { port: 0, tokenFile: tokens } }
shutdown: { delay: 1ms }
`

/** A busy machine may take long for one answer. */
const PATIENT = ['--timeout', '1min']

/** A service that is asked all the time, and where it listens. */
async function busy() {
  const file = fileWith(yaml)
  const tokens = join(dirname(file), 'tokens')
  writeFileSync(tokens, `# first\nops ${TOKEN}\n`)
  const service = sluice(['serve', file])
  const url = await urlOf(service)
  const admin = /Listening for admin on (http:\S+)/.exec(service.printed())![1]!
  const asking = setInterval(() => {
    const body = JSON.stringify({ attributes: { user: 'ann' } })
    const headers = { 'content-type': 'application/json' }
    fetch(`${url}/v1/check`, { method: 'POST', headers, body }).catch(() => {})
  }, 20)
  onTestFinished(() => clearInterval(asking))
  return { service, url, admin, tokens }
}

test('one second of a service, for people', async () => {
  const { url, admin, tokens } = await busy()
  const args = ['top', url, '--admin', admin, '--token-file', tokens, '--once', ...PATIENT]
  const { code, printed, errors } = await sluice(args).ended
  expect([code, errors]).toEqual([0, ''])
  expect(printed).toMatch(/^sluice \d\S+ {2}serving {2}http:/)
  expect(printed).toMatch(/refused \d+(\.\d)?\/s/)
  expect(printed).toMatch(/^ {2}user=ann {2}\(api, per-user\) +\d+$/m)
  expect(printed).not.toContain('\u001b')
})

test('and for programs, with and without a token', async () => {
  const { url, admin } = await busy()
  const args = ['top', `${url}/`, '--admin', admin, '--once', '--json', ...PATIENT]
  const open = JSON.parse((await sluice(args).ended).printed) as Record<string, unknown>
  expect(open).toMatchObject({
    status: 'serving',
    offenders: [],
    rules: [{ rule: 'per-user' }, {}],
  })
  expect(open['decisions']).toBeGreaterThan(5)
  const known = await sluice(args, { SLUICE_ADMIN_TOKEN: TOKEN }).ended
  expect(JSON.parse(known.printed)).toMatchObject({
    offendersProblem: null,
    offenders: [{ attributes: { user: 'ann' } }],
  })
  const wrong = await sluice(args, { SLUICE_ADMIN_TOKEN: 'x'.repeat(30) }).ended
  expect(wrong.code).toBe(0)
  expect(JSON.parse(wrong.printed)).toMatchObject({
    offendersProblem: 'the admin API refuses the token',
  })
})

test('goes on when the service stops and starts again, and ends at once on Ctrl+C', async () => {
  const { service, url, admin } = await busy()
  const top = sluice(['top', url, '--admin', admin, '--json', ...PATIENT])
  await until('it shows', 20_000, async () => top.printed().includes('"serving"'))
  service.child.kill('SIGKILL')
  await until('it is unreachable', 20_000, async () => top.printed().includes('"unreachable"'))
  top.child.kill('SIGINT')
  expect((await top.ended).code).toBe(0)
})

test.each([
  ['no server', 'http://127.0.0.1:9', /is unreachable: /],
  ['no URL', 'nonsense', /nonsense is not a URL; accepted: http:/],
  ['no duration', '--timeout=soon', /--timeout is soon; accepted: a duration such as 500ms/],
])('for %s there is one sentence, and exit code 1', async (_, argument, message) => {
  const { code, errors, printed } = await sluice(['top', argument, '--once']).ended
  expect([code, printed]).toEqual([1, ''])
  expect(errors).toMatch(message)
  expect(errors.trim().split('\n')).toHaveLength(1)
})

test('a server that is not a decision service is reported as such', async () => {
  const other = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await until('it listens', 5000, async () => other.listening)
  const { port } = other.address() as AddressInfo
  const { code, errors } = await sluice(['top', `http://127.0.0.1:${port}`, '--once']).ended
  expect(code).toBe(1)
  expect(errors).toContain('answers, but is not a decision service (status 200)')
})
