// Who gets in, what is written about it, and what strangers may send.
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import fc from 'fast-check'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { until } from '../../../../test/servers/until.ts'
import { readConfig } from '../../src/config/read-config.ts'
import { createLog } from '../../src/log/log.ts'
import { startService } from '../../src/service/service.ts'
import { running } from '../running.ts'
import { administered, folder, policies, TOKEN } from './admin.ts'

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe('at the door of the admin API,', () => {
  it.each<[string, Record<string, string>]>([
    ['no token', { authorization: '' }],
    ['another token', bearer('operator-token-for-tests-0123456780')],
    ['a part of it', bearer(TOKEN.slice(0, -1))],
    ['more than it', bearer(`${TOKEN}0`)],
    ['another scheme', { authorization: `Basic ${TOKEN}` }],
    ['a list', { authorization: `Bearer ${TOKEN}, Bearer ${TOKEN}` }],
    ['a name alone', bearer('ops')],
  ])('not with %s', async (_, headers) => {
    const { ask, logged } = await administered()
    const { status, headers: fields, body } = await ask('state', undefined, headers)
    expect(status).toBe(401)
    expect(fields.get('www-authenticate')).toMatch(/^Bearer/)
    expect(fields.get('content-type')).toBe('application/problem+json')
    expect(body).toMatchObject({ code: 'unauthorized' })
    expect(logged().filter(({ msg }) => msg === 'admin')).toMatchObject([
      { audit: { who: { address: '127.0.0.1' }, result: 'refused', target: '/v1/admin/state' } },
    ])
  })

  it('a client without a token does not learn which paths there are', async () => {
    const { ask } = await administered()
    const paths = ['state', 'nothing', '../healthz', 'block']
    for (const path of paths)
      expect((await ask(path, undefined, { authorization: '' })).status).toBe(401)
    expect((await ask('nothing')).status).toBe(404)
    const wrong = await ask('block')
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
  })

  it('an address that fails too often waits, but the right token is always accepted', async () => {
    const { ask, logged } = await administered()
    const attempts = []
    for (let i = 0; i < 30; i++)
      attempts.push(await ask('state', undefined, bearer('x'.repeat(30))))
    const statuses = attempts.map(({ status }) => status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(10)
    expect(statuses.filter((status) => status === 429)).toHaveLength(20)
    expect(Number(attempts.at(-1)!.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await ask('state')).status).toBe(200)
    expect(logged().filter(({ msg }) => msg === 'admin')).toHaveLength(10)
    expect(logged().filter(({ code }) => code === 'admin-attempts')).toHaveLength(1)
  })

  it('a file of tokens that everyone can read is warned of', async () => {
    const tokenFile = join(folder(), 'tokens')
    writeFileSync(tokenFile, `ops ${TOKEN}\n`, { mode: 0o644 })
    const { logged } = await administered({}, { tokenFile })
    expect(logged().filter(({ code }) => code === 'exposed-tokens')).toHaveLength(1)
    const { logged: quiet } = await administered()
    expect(quiet().filter(({ code }) => code === 'exposed-tokens')).toEqual([])
  })

  it('a page whose name was made to point here reaches neither port', async () => {
    const { adminUrl, url } = await administered()
    for (const [port, path] of [
      [adminUrl, '/v1/admin/state'],
      [url, '/v1/reset'],
    ] as const) {
      const { hostname, port: number } = new URL(port)
      const asked = request({
        hostname,
        port: number,
        path,
        headers: { host: 'evil.example', authorization: `Bearer ${TOKEN}` },
      }).end()
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]
      answer.resume()
      expect(answer.statusCode).toBe(421)
    }
  })

  it('the file of tokens may change; a bad one changes nothing', async () => {
    const file = join(folder(), 'sluice.yaml')
    writeFileSync(file, 'policies: []')
    const watch = { settle: 10, poll: 50 }
    const admin = await administered({}, {}, { source: { file, digest: '', watch } })
    const other = 'another-token-of-some-length-42'
    const status = async (token: string) =>
      (await admin.ask('state', undefined, bearer(token))).status
    writeFileSync(admin.tokenFile, 'too-short\n')
    await until('it is told', 5000, async () =>
      admin.logged().some(({ msg }) => String(msg).startsWith('the admin tokens cannot be read')),
    )
    expect(await status(TOKEN)).toBe(200)
    writeFileSync(admin.tokenFile, `${other}\n`)
    await until('it changes', 5000, async () =>
      admin.logged().some(({ msg }) => msg === 'admin tokens changed'),
    )
    expect([await status(other), await status(TOKEN)]).toEqual([200, 401])
    expect(JSON.stringify(admin.logged())).not.toContain(other)
    expect(JSON.stringify(admin.logged())).not.toContain('too-short')
  })

  it('without a token there is no admin API, and a warning when one was wanted', async () => {
    const service = await running({ policies, listeners: { admin: { port: 0 } } })
    expect(service.listeners.map(({ name }) => name)).toEqual(['http'])
    expect(service.logged()).toContainEqual(
      expect.objectContaining({ msg: 'the admin API is off: there is no token' }),
    )
  })

  it('a token of the environment switches it on, and is kept nowhere', async () => {
    const environment = { SLUICE_ADMIN_TOKEN: TOKEN, SLUICE_ADMIN_PORT: '0' }
    const text = JSON.stringify({ policies, listeners: { http: { port: 0 } } })
    const { config } = readConfig(text, 'x', environment)
    expect(JSON.stringify(config)).not.toContain(TOKEN)
    const service = await startService({ config: config!, log: createLog('silent') })
    const { url } = service.listeners.find(({ name }) => name === 'admin')!
    const state = await fetch(`${url}/v1/admin/state`, { headers: bearer(TOKEN) })
    expect(state.status).toBe(200)
    await service.stop()
  })

  it('a token that is too short is a mistake that does not repeat it', () => {
    const { problems } = readConfig(JSON.stringify({ policies }), 'x', {
      SLUICE_ADMIN_TOKEN: 'hunter2',
    })
    expect(problems[0]!.message).toMatch(/^SLUICE_ADMIN_TOKEN is wrong; accepted: 24 to 512/)
    expect(JSON.stringify(problems)).not.toContain('hunter2')
  })

  it.each([
    ['no file', 'missing', ''],
    ['a short token', 'tokens', 'secret\n'],
    ['nothing', 'tokens', '# nobody\n'],
    ['three words', 'tokens', `a b ${TOKEN}\n`],
  ])('the service does not start with %s', async (_, name, text) => {
    const path = folder()
    if (text !== '') writeFileSync(join(path, name), text)
    const admin = { port: 0, tokenFile: join(path, name) }
    const { config } = readConfig(
      JSON.stringify({ policies, listeners: { http: { port: 0 }, admin } }),
      'x',
    )
    const start = startService({ config: config!, log: createLog('silent') })
    await expect(start).rejects.toThrow(/ENOENT|accepted/)
    await expect(start).rejects.not.toThrow(/secret/)
  })
})

describe('the audit log', () => {
  it('has a line for every change, with who, what, whom and what came of it', async () => {
    const { ask, logged } = await administered()
    await ask('block', { attributes: { user: 'ann' }, for: '1min' })
    await ask('unblock', { attributes: { user: 'bob' } })
    await ask('read', { attributes: { user: 'ann' } })
    await ask('state')
    const lines = logged().filter(({ msg }) => msg === 'admin')
    const who = { address: '127.0.0.1', token: 'ops' }
    expect(lines.map(({ audit }) => audit)).toMatchObject([
      { who, operation: 'block', target: { attributes: { user: 'ann' } }, result: 'done' },
      { who, operation: 'unblock', result: 'failed', why: 'no block has exactly these attributes' },
    ])
  })

  it('also goes to a file, which only its owner may read', async () => {
    const file = join(folder(), 'audit', 'admin.log')
    const { ask } = await administered({}, { auditFile: file })
    await ask('reset', { attributes: { user: 'ann' } })
    const text = await until('the line is written', 5000, async () => {
      const written = readFileSync(file, 'utf8')
      return written.endsWith('\n') && written
    })
    const line = JSON.parse(text.trim()) as object
    expect(line).toMatchObject({ audit: { operation: 'reset', result: 'done' } })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    chmodSync(file, 0o600)
  })

  it('goes on when the disk is full, and reports what its file misses', async () => {
    const { ask, logged } = await administered({}, { auditFile: '/dev/full' })
    for (const user of ['ann', 'bob']) {
      const { status } = await ask('block', { attributes: { user }, for: '1min' })
      expect(status).toBe(200)
    }
    expect((await ask('state')).body).toMatchObject({ blocks: 2 })
    const told = await until('the log says so', 5000, async () => {
      const lines = logged().filter(({ code }) => code === 'audit-file')
      return lines.length > 0 && lines
    })
    expect(told).toMatchObject([
      { file: '/dev/full', error: 'ENOSPC: no space left on device, write' },
    ])
  })

  it('keeps the service from starting when its file cannot be opened', async () => {
    await expect(administered({}, { auditFile: folder() })).rejects.toThrow(
      'listeners.admin.auditFile cannot be opened: EISDIR',
    )
  })

  it('shows hostile text as the text that it is', async () => {
    const { ask, logged } = await administered()
    const user = '\u001b[2J\u009b31m\u202e"}\n{"level":"info"\u2028\u200b'
    await ask('block', { attributes: { user }, for: '1min', note: 'x\u0007' })
    const line = JSON.stringify(logged().find(({ msg }) => msg === 'admin'))
    expect(line).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u)
    expect(line).toContain('u{1b}')
    const long = 'a'.repeat(10_000)
    await ask('reset', { attributes: { user: long } })
    expect(JSON.stringify(logged().at(-1)).length).toBeLessThan(1000)
  })
})

describe('under attack,', () => {
  it('idle connections from one address do not keep another address out', async () => {
    const { adminUrl } = await administered({}, { headersTimeout: 60_000 })
    const port = Number(new URL(adminUrl).port)
    const open = (localAddress: string) => connect({ host: '127.0.0.1', port, localAddress })
    const idle = Array.from({ length: 400 }, () => open('127.0.0.1'))
    onTestFinished(() => {
      for (const socket of idle) socket.destroy()
    })
    let dropped = 0
    for (const socket of idle) socket.on('error', () => {}).once('close', () => (dropped += 1))
    await until('those beyond the limit are dropped', 20_000, async () => dropped === 100)
    const operator = open('127.0.0.2')
    operator.write('GET /v1/admin/state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    const [answer] = (await once(operator, 'data')) as [Buffer]
    operator.destroy()
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 401 /)
  })

  it.each<[string, string, unknown, RegExp]>([
    ['block', 'no duration', { attributes: { user: 'a' } }, /for is missing/],
    [
      'block',
      'too long',
      { attributes: { user: 'a' }, for: '31d' },
      /for is "31d"; accepted: a duration/,
    ],
    ['block', 'too short', { attributes: { user: 'a' }, for: 1 }, /for is 1/],
    ['block', 'nobody', { attributes: {}, for: '1min' }, /attributes is missing/],
    [
      'block',
      'an empty value',
      { attributes: { user: '' }, for: '1min' },
      /attributes.user is empty/,
    ],
    ['block', 'a list', { attributes: ['a'], for: '1min' }, /attributes is \["a"\]/],
    ['block', 'both', { attributes: { a: 'b' }, key: 'k', for: '1min' }, /one of the two/],
    ['block', 'another field', { key: 'k', for: '1min', x: 1 }, /x is not a known field/],
    ['block', 'another policy', { key: 'k', for: '1min', policy: 'web' }, /no policy/],
    ['grant', 'no units', { key: 'k' }, /units is missing/],
    ['grant', 'negative units', { key: 'k', units: -1 }, /units is -1/],
    ['reset', 'another rule', { key: 'k', rule: 'x' }, /no rule/],
    ['read', 'no object', [], /the body is not an object/],
    [
      'set-override',
      'a bad limit',
      { rule: 'per-user', when: { user: 'a' }, limit: 'many' },
      /limit/,
    ],
    ['set-override', 'no limit', { rule: 'per-user', when: { user: 'a' } }, /limit is missing/],
    ['set-override', 'another rule', { rule: 'x', when: { user: 'a' }, limit: '1/h' }, /no rule/],
  ])('%s with %s learns what is accepted', async (operation, _, body, detail) => {
    const { ask } = await administered()
    const { status, body: problem } = await ask(operation, body)
    expect([400, 404]).toContain(status)
    expect(problem.detail).toMatch(detail)
    expect((await ask('blocks')).body.blocks).toEqual([])
    expect((await ask('overrides')).body.overrides).toEqual([])
  })

  it.each(['limit=0', 'limit=1001', 'limit=x', 'over=maybe', 'cursor=1', 'cursor=..', 'x=1'])(
    'a query with %s is 400',
    async (query) => {
      const { ask } = await administered()
      expect((await ask(`keys?${query}`)).status).toBe(400)
    },
  )

  it('bodies are bounded, and JSON alone', async () => {
    const { ask } = await administered()
    expect((await ask('read', { key: 'x'.repeat(70_000) })).status).toBe(413)
    expect((await ask('read', 'nonsense')).status).toBe(400)
    const deep = '['.repeat(20_000) + ']'.repeat(20_000)
    for (const name of ['attributes', 'policy', 'rule', 'when', 'limit', 'for', 'units', 'note'])
      for (const operation of ['read', 'grant', 'block', 'set-override'])
        expect((await ask(operation, `{"${name}":${deep}}`)).status).toBe(400)
    expect((await ask('read', '{}', { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await ask('state')).status).toBe(200)
  })

  it('random bodies never make an error of ours', async () => {
    const { ask } = await administered()
    const operations = [
      'read',
      'reset',
      'grant',
      'block',
      'unblock',
      'set-override',
      'remove-override',
    ]
    const names = fc.constantFrom(
      'attributes',
      'key',
      'policy',
      'rule',
      'when',
      'limit',
      'for',
      'units',
      'note',
      '__proto__',
    )
    const bodies = fc.oneof(fc.jsonValue(), fc.dictionary(names, fc.jsonValue(), { maxKeys: 6 }))
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...operations), bodies, async (operation, body) => {
        const { status } = await ask(operation, JSON.stringify(body))
        expect([200, 400, 404]).toContain(status)
      }),
      { numRuns: 300 },
    )
  })

  it('a client that disconnects in the middle of a change leaves the service well', async () => {
    const { ask, adminUrl } = await administered()
    const { port } = new URL(adminUrl)
    for (const cut of [30, 120, 200]) {
      const socket = connect(Number(port), '127.0.0.1')
      const body = JSON.stringify({ key: 'k', for: '1min' })
      const text = `POST /v1/admin/block HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TOKEN}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
      socket.write(text.slice(0, cut), () => socket.destroy())
      await new Promise((resolve) => socket.once('close', resolve))
    }
    expect((await ask('state')).status).toBe(200)
  })

  it('many changes at once are all kept', async () => {
    const { ask } = await administered()
    const users = Array.from({ length: 60 }, (_, i) => `user-${i}`)
    await Promise.all(users.map((user) => ask('block', { attributes: { user }, for: '1min' })))
    const { body } = await ask('blocks?limit=40')
    expect(body.blocks).toHaveLength(40)
    expect((await ask(`blocks?limit=40&cursor=${body.cursor}`)).body.blocks).toHaveLength(20)
    await Promise.all(users.map((user) => ask('unblock', { attributes: { user } })))
    expect((await ask('blocks')).body.blocks).toEqual([])
  })
})
