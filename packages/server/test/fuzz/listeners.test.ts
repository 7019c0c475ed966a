// Every listener, with inputs that are nearly right: no crash, no answer 500 or INTERNAL, and every unit accounted for.
import { connect, type Socket } from 'node:net'
import { connect as connectHttp2 } from 'node:http2'
import { expect, onTestFinished, test, vi } from 'vitest'
import { mutations } from '../../../../test/fuzz/mutations.ts'
import { lengthOf } from '../../../../test/length.ts'
import { administered, TOKEN } from '../admin/admin.ts'
import { call, decode, encode, framed } from '../envoy/raw-client.ts'
import { askedBy } from './asked-units.ts'
import { running, type Running } from '../running.ts'
import { turnOfServer } from '../turn-of-server.ts'
import { behind } from '../upstream/behind.ts'

vi.setConfig({ testTimeout: 3_600_000 })

/** The long form is 200,000 inputs for each listener, in parts that can be run alone. */
const PARTS = Array.from({ length: lengthOf(1, 4) }, (_, i) => i + 1)
const INPUTS = lengthOf(500, 50_000)
const AT_ONCE = 32

const QUOTA = 50_000_000
/** Nothing of it comes back while a test runs. */
const COUNTED = { quota: QUOTA, window: '1d', algorithm: 'fixed-window', anchor: 'first' }
const policies = [{ name: 'api', rules: [{ name: 'all', by: [], limit: COUNTED }] }]
const usedOf = async ({ post }: Running): Promise<number> =>
  QUOTA - (await post('/v1/peek', { policy: 'api', attributes: {} })).body.remaining

/** Sends bytes and the end of the connection; gives all that came back, and whether that is all there was. */
function exchange(port: number, bytes: Buffer): Promise<{ answer: string; isWhole: boolean }> {
  return new Promise((resolve) => {
    let answer = ''
    let isWhole = false
    const socket: Socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    // A server that waits for a body that was announced has nothing to answer. On a busy machine the time may be over
    // before it could: a server that answers a later connection has answered this one, too.
    socket.setTimeout(500, () => void turnOfServer(port).then(() => socket.destroy()))
    socket.on('data', (data) => (answer += data.toString('latin1')))
    socket.on('error', () => {})
    socket.on('end', () => {
      isWhole = true
      socket.destroy()
    })
    socket.on('close', () => resolve({ answer, isWhole }))
    socket.end(bytes)
  })
}

/** Runs all inputs, some at a time. */
async function each(next: () => Buffer, run: (input: Buffer) => Promise<void>): Promise<void> {
  let left = INPUTS
  const work = async (): Promise<void> => {
    while (left-- > 0) await run(next())
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

const portOf = ({ listeners }: Running, name: string): number =>
  Number(new URL(listeners.find((one) => one.name === name)!.url).port)

/** The cookie of a session of the console. */
async function signedIn(url: string): Promise<string> {
  const { headers } = await fetch(`${url}/console/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sluice-console': '1' },
    body: JSON.stringify({ token: TOKEN }),
  })
  return headers.get('set-cookie')!.split(';')[0]!.split('=')[1]!
}

/** A request before it is changed: its first line, its body and further fields. */
type Request = readonly [line: string, body?: string | Buffer, fields?: string | undefined]

function bytesOf([line, body = '', fields = '']: Request): Buffer {
  const about = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
  const head = `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n${fields}${body.length === 0 ? '' : about}\r\n`
  return Buffer.concat([Buffer.from(head), Buffer.from(body as string)])
}

/** Requests with changed bytes; of every other only the body is changed, so that it is read at all. */
function requests(seed: number, valid: readonly Request[]): () => Buffer {
  const changed = mutations(seed, valid.map(bytesOf))
  const bodies = valid.map(([, body]) => (body === undefined ? undefined : mutations(seed, [body])))
  let turn = 0
  return () => {
    turn += 1
    const [line, , fields] = valid[turn % valid.length]!
    const body = turn % (2 * valid.length) < valid.length ? bodies[turn % valid.length] : undefined
    return body === undefined ? changed() : bytesOf([line, body(), fields])
  }
}

test.each(PARTS)(
  'the HTTP API charges what it has allowed, and nothing else (part %i)',
  async (part) => {
    const service = await running({ policies, proxy: { attributes: { user: 'X-User' } } })
    const valid: Request[] = [
      ['POST /v1/check', '{"policy":"api","attributes":{"user":"a"}}'],
      ['POST /v1/check', '{"checks":[{"policy":"api","key":"a"},{"attributes":{}}]}'],
      ['POST /v1/peek', '{"policy":"api","attributes":{}}'],
      ['GET /v1/auth/nginx?policy=api', '', 'X-Original-URI: /a\r\nX-User: ann\r\n'],
      ['GET /v1/auth/haproxy', '', 'X-Original-URI: /\r\nX-Forwarded-For: 1.2.3.4\r\n'],
      ['GET /v1/policies'],
      ['GET /metrics'],
    ]
    let allowed = 0
    let looked = 0
    let cut = 0
    const wrong: string[] = []
    await each(requests(part, valid), async (input) => {
      const { answer, isWhole } = await exchange(portOf(service, 'http'), input)
      if (/^HTTP\/1\.1 500/m.test(answer) || answer.includes('"status":500')) wrong.push(answer)
      const yes = (answer.match(/"allowed":true,"reason"|sluice-status: 204/gi) ?? []).length
      allowed += yes
      // Some of these answers may be to a look, which costs nothing.
      if (input.includes('peek')) looked += yes
      if (!isWhole) cut += 1
    })
    expect(wrong.slice(0, 3)).toEqual([])
    expect((await service.get('/healthz')).status).toBe(200)
    expect(service.logged().filter(({ level }) => level === 'error')).toEqual([])
    expect(allowed - looked).toBeGreaterThan(0)
    const used = await usedOf(service)
    expect(used).toBeGreaterThanOrEqual(allowed - looked)
    // A connection that was cut may have lost the answers to two checks; nothing else is charged without an answer.
    expect(used).toBeLessThanOrEqual(allowed + 2 * cut)
  },
)

test.each(PARTS)(
  'budgets charge no more than was reserved and give back all that was not (part %i)',
  async (part) => {
    const rules = [{ name: 'all', by: [], limit: COUNTED, hold: '1h' }]
    const service = await running({ policies: [{ name: 'api', rules }] })
    const reserve = async (estimate: number) =>
      (await service.post('/v1/reserve', { attributes: {}, estimate })).body as unknown as {
        id: string
      }
    const { id } = await reserve(1)
    const valid: Request[] = [
      ['POST /v1/reserve', '{"policy":"api","attributes":{"user":"a"},"estimate":3}'],
      ['POST /v1/reserve', '{"checks":[{"attributes":{},"estimate":2},{"key":"a"}]}'],
      ['POST /v1/settle', `{"policy":"api","id":"${id}","actual":1}`],
      ['POST /v1/settle', `{"id":"${id}","actual":{"input":5,"output":7}}`],
      ['POST /v1/extend', `{"id":"${id}"}`],
      ['POST /v1/cancel', `{"id":"${id}"}`],
      ['POST /v1/enter', '{"attributes":{"user":"a"},"cost":1}'],
      ['POST /v1/leave', `{"id":"${id}"}`],
    ]
    const wrong: string[] = []
    const ids = new Set<string>([id])
    let charged = 0
    let cut = 0
    await each(requests(10 + part, valid), async (input) => {
      const { answer, isWhole } = await exchange(portOf(service, 'http'), input)
      if (/^HTTP\/1\.1 500/m.test(answer) || answer.includes('"status":500')) wrong.push(answer)
      for (const [, one] of answer.matchAll(/"allowed":true,"id":"([^"]+)"/g)) ids.add(one!)
      for (const [, units] of answer.matchAll(/"status":"\w+","charged":(\d+)/g))
        charged += Number(units)
      if (!isWhole) cut += 1
    })
    expect(wrong.slice(0, 3)).toEqual([])
    expect(service.logged().filter(({ level }) => level === 'error')).toEqual([])
    expect(ids.size).toBeGreaterThan(1)
    for (const one of ids) await service.post('/v1/cancel', { id: one })
    // The id of a reservation whose answer was cut is lost; its units stay out until the hold ends.
    const lost = 2 * cut * 100
    expect(await usedOf(service)).toBeLessThanOrEqual(charged + lost)
    expect((await service.get('/healthz')).status).toBe(200)
  },
)

test.each(PARTS)(
  'the upstream of the reverse proxy sees no more than was counted (part %i)',
  async (part) => {
    let seen = 0
    const service = await behind(
      (incoming, response) => {
        seen += 1
        incoming.resume()
        response.end('ok')
      },
      { timeout: 2000 },
      { policies },
    )
    const valid = [
      bytesOf(['GET /a/b?c=d', '', 'X-Api-Key: k\r\nX-Forwarded-For: 1.2.3.4\r\n']),
      bytesOf(['POST /x', '{"a":1}']),
      'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
      'OPTIONS / HTTP/1.1\r\nHost: x\r\nOrigin: y\r\nAccess-Control-Request-Method: GET\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    ]
    const wrong: string[] = []
    await each(mutations(20 + part, valid), async (input) => {
      const { answer } = await exchange(service.port, input)
      if (/^HTTP\/1\.1 500/m.test(answer)) wrong.push(answer)
    })
    expect(wrong.slice(0, 3)).toEqual([])
    expect(service.logged().filter(({ level }) => level === 'error')).toEqual([])
    expect(seen).toBeGreaterThan(0)
    expect(seen).toBeLessThanOrEqual(await usedOf(service))
    expect((await fetch(service.proxy)).status).toBe(200)
  },
)

test.each(PARTS)(
  'the gRPC listener charges what it has allowed, and knows no INTERNAL (part %i)',
  async (part) => {
    const service = await running({ policies, listeners: { grpc: { port: 0 } } })
    const session = connectHttp2(`http://127.0.0.1:${portOf(service, 'grpc')}`)
    session.on('error', () => {})
    onTestFinished(() => session.destroy())
    const path = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'
    const valid = [
      encode({ domain: 'api', hits: 1, descriptors: [{ entries: [['user', 'ann']] }] }),
      encode({ domain: 'api', descriptors: [{ entries: [['a', 'b']], hits: 3 }] }),
      encode({
        domain: 'api',
        hits: 5,
        descriptors: [{ entries: [['a', 'b']] }, { entries: [['c', 'd']], hits: 0 }],
      }),
      encode({ domain: 'api', descriptors: [{ entries: [['a', 'b']], limit: [7, 2] }] }),
    ]
    const statuses = new Set<number | undefined>()
    const wrong: string[] = []
    const refunds: Buffer[] = []
    let charged = 0
    const send = async (input: Buffer): Promise<number> => {
      const { status, message } = await call(session, path, framed(input), {})
      statuses.add(status)
      return status === 0 && message !== undefined ? decode(message).code! : -1
    }
    await each(mutations(30 + part, valid), async (input) => {
      const asked = askedBy(input)
      // What comes back depends on what was taken before it; these are sent when all others are counted.
      if (asked === 'refund') return void refunds.push(input)
      if ((await send(input)) !== 1) return
      if (asked === 'unreadable') wrong.push(input.toString('hex'))
      else charged += asked
    })
    expect(wrong.slice(0, 3)).toEqual([])
    expect(charged).toBeGreaterThan(0)
    const used = await usedOf(service)
    expect(used).toBe(charged)
    for (const input of refunds) await send(input)
    expect(await usedOf(service)).toBeLessThanOrEqual(used)
    expect([...statuses].filter((status) => ![0, 3, 5, 8, 12].includes(status ?? -1))).toEqual([])
    expect([...statuses]).toContain(3)
    expect(service.logged().filter(({ level }) => level === 'error')).toEqual([])
    expect((await service.get('/healthz')).status).toBe(200)
  },
)

test.each(PARTS)(
  'the admin API changes nothing without its token, and knows no 500 (part %i)',
  async (part) => {
    const service = await administered({ policies })
    const authorization = `Authorization: Bearer ${TOKEN}\r\n`
    const own = 'Sluice-Console: 1\r\n'
    const session = await signedIn(service.adminUrl)
    const valid: Request[] = [
      ['GET /v1/admin/blocks'],
      ['POST /v1/admin/block', '{"attributes":{"user":"a"},"for":"1min"}'],
      ['POST /v1/admin/read', '{"policy":"api","attributes":{"user":"a"}}', authorization],
      ['GET /v1/admin/keys?policy=api&limit=5', '', authorization],
      ['GET /v1/admin/overrides', '', authorization],
      ['GET /v1/admin/why?attribute=user%3Da&limit=5', '', authorization],
      ['GET /v1/admin/keys/top?policy=api&rule=all', '', authorization],
      ['GET /v1/admin/doctor', '', authorization],
      ['GET /console/session', '', 'Cookie: sluice_session=WyJhIiwxXQ.c2ln\r\n'],
      ['GET /console/policy', '', `Cookie: sluice_session=${session}\r\n`],
      ['POST /console/sign-in', '{"token":"wrong"}', own],
      ['POST /console/sign-in', '{"code":"WyJhIiwxXQ.c2ln"}', own],
      [
        'POST /console/try',
        '{"text":"policies: []"}',
        `${own}Cookie: sluice_session=${session}\r\n`,
      ],
      ['GET /assets/index.js', '', 'If-None-Match: "x"\r\nAccept-Encoding: gzip\r\n'],
    ]
    const wrong: string[] = []
    let mayBlock = 0
    await each(requests(40 + part, valid), async (input) => {
      const { answer } = await exchange(portOf(service, 'admin'), input)
      if (/^HTTP\/1\.1 500/m.test(answer)) wrong.push(answer)
      const isKnown = input.includes(TOKEN) || input.includes(session)
      if (isKnown && input.includes('/block')) mayBlock += 1
      const isOpen = /^HTTP\/1\.1 200/m.test(answer) && !isKnown
      if (isOpen && answer.includes('"blocks"')) wrong.push(`open: ${answer}`)
    })
    expect(wrong.slice(0, 3)).toEqual([])
    const { blocks } = (await service.ask('blocks')).body as { blocks: unknown[] }
    expect(blocks.length).toBeLessThanOrEqual(mayBlock)
    expect(await usedOf(service)).toBe(0)
  },
)
