// Every listener, with inputs that are nearly right: no crash, no answer 500 or INTERNAL, and every unit accounted for.
import { connect, type Socket } from 'node:net'
import { connect as connectHttp2 } from 'node:http2'
import { expect, onTestFinished, test, vi } from 'vitest'
import { mutations } from '../../../../test/fuzz/mutations.ts'
import { lengthOf } from '../../../../test/length.ts'
import { administered, TOKEN } from '../admin/admin.ts'
import { call, encode, framed } from '../envoy/raw-client.ts'
import { running, type Running } from '../running.ts'
import { behind } from '../upstream/behind.ts'

vi.setConfig({ testTimeout: 3_600_000 })

const INPUTS = lengthOf(500, 200_000)
const AT_ONCE = 32
const QUOTA = 10_000_000
/** Nothing of it comes back while a test runs. */
const COUNTED = { quota: QUOTA, window: '1d', algorithm: 'fixed-window' }
const policies = [{ name: 'api', rules: [{ name: 'all', by: [], limit: COUNTED }] }]
const usedOf = async ({ post }: Running): Promise<number> =>
  QUOTA - (await post('/v1/peek', { policy: 'api', attributes: {} })).body.remaining

/** Sends bytes and the end of the connection; gives all that came back, and whether that is all there was. */
function exchange(port: number, bytes: Buffer): Promise<{ answer: string; isWhole: boolean }> {
  return new Promise((resolve) => {
    let answer = ''
    let isWhole = false
    const socket: Socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    // A server that waits for a body that was announced has nothing to answer.
    socket.setTimeout(500, () => socket.destroy())
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

const request = (line: string, body = '', fields = ''): string =>
  `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n${fields}${body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`}\r\n${body}`

test('the HTTP API charges what it has allowed, and nothing else', async () => {
  const service = await running({ policies })
  const valid = [
    request('POST /v1/check', '{"policy":"api","attributes":{"user":"a"}}'),
    request('POST /v1/check', '{"checks":[{"policy":"api"},{"policy":"api","attributes":{}}]}'),
    request('POST /v1/peek', '{"policy":"api"}'),
    request('GET /v1/auth/nginx?policy=api', '', 'X-Forwarded-For: 1.2.3.4\r\n'),
    request('GET /v1/policies'),
    request('GET /metrics'),
  ]
  let allowed = 0
  let cut = 0
  const wrong: string[] = []
  await each(mutations(1, valid), async (input) => {
    const { answer, isWhole } = await exchange(portOf(service, 'http'), input)
    if (/^HTTP\/1\.1 500/m.test(answer) || answer.includes('"status":500')) wrong.push(answer)
    allowed += answer.split('"allowed":true').length - 1
    allowed += answer.toLowerCase().split('sluice-status: 200').length - 1
    if (!isWhole) cut += 1
  })
  expect(wrong.slice(0, 3)).toEqual([])
  expect((await service.get('/healthz')).status).toBe(200)
  expect(service.logged().filter(({ level }) => level === 'error')).toEqual([])
  expect(allowed).toBeGreaterThan(0)
  // A connection that was cut may have lost the answers to two checks; nothing else is charged without an answer.
  const used = await usedOf(service)
  expect(used).toBeGreaterThan(0)
  expect(used).toBeLessThanOrEqual(allowed + 2 * cut)
})

test('the upstream of the reverse proxy sees no more than was counted', async () => {
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
    request('GET /a/b?c=d', '', 'X-Api-Key: k\r\nX-Forwarded-For: 1.2.3.4\r\n'),
    request('POST /x', '{"a":1}'),
    'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
    'OPTIONS / HTTP/1.1\r\nHost: x\r\nOrigin: y\r\nAccess-Control-Request-Method: GET\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  ]
  const wrong: string[] = []
  await each(mutations(2, valid), async (input) => {
    const { answer } = await exchange(service.port, input)
    if (/^HTTP\/1\.1 500/m.test(answer)) wrong.push(answer)
  })
  expect(wrong.slice(0, 3)).toEqual([])
  expect(service.logged().filter(({ level }) => level === 'error')).toEqual([])
  expect(seen).toBeGreaterThan(0)
  expect(seen).toBeLessThanOrEqual(await usedOf(service))
  expect((await fetch(service.proxy)).status).toBe(200)
})

test('the gRPC listener charges what it has answered, and knows no INTERNAL', async () => {
  const service = await running({ policies, listeners: { grpc: { port: 0 } } })
  const session = connectHttp2(`http://127.0.0.1:${portOf(service, 'grpc')}`)
  session.on('error', () => {})
  onTestFinished(() => session.destroy())
  const path = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'
  const valid = [
    encode({ domain: 'api', hits: 1, descriptors: [{ entries: [['user', 'ann']] }] }),
    encode({ domain: 'api', descriptors: [{ entries: [['a', 'b']], limit: [7, 2] }] }),
  ]
  const statuses = new Set<number | undefined>()
  let answered = 0
  await each(mutations(3, valid), async (input) => {
    const { status } = await call(session, path, framed(input), {})
    statuses.add(status)
    if (status === 0) answered += 1
  })
  expect([...statuses].filter((status) => ![0, 3, 5, 8, 12].includes(status ?? -1))).toEqual([])
  expect([...statuses]).toContain(3)
  // One unit for each rule and request, unless hits_addend asks for more.
  expect(answered).toBeGreaterThan(0)
  expect(service.logged().filter(({ level }) => level === 'error')).toEqual([])
  expect((await service.get('/healthz')).status).toBe(200)
})

test('the admin API changes nothing without its token, and knows no 500', async () => {
  const service = await administered({ policies })
  const authorization = `Authorization: Bearer ${TOKEN}\r\n`
  const valid = [
    request('GET /v1/admin/blocks'),
    request('POST /v1/admin/block', '{"attributes":{"user":"a"},"for":"1min"}'),
    request('POST /v1/admin/read', '{"policy":"api","attributes":{"user":"a"}}', authorization),
    request('GET /v1/admin/keys?policy=api&limit=5', '', authorization),
    request('GET /v1/admin/overrides', '', authorization),
  ]
  const wrong: string[] = []
  let mayBlock = 0
  await each(mutations(5, valid), async (input) => {
    const { answer } = await exchange(portOf(service, 'admin'), input)
    if (/^HTTP\/1\.1 500/m.test(answer)) wrong.push(answer)
    if (input.includes(TOKEN) && input.includes('/block')) mayBlock += 1
    const isOpen = /^HTTP\/1\.1 200/m.test(answer) && !input.includes(TOKEN)
    if (isOpen && answer.includes('"blocks"')) wrong.push(`open: ${answer}`)
  })
  expect(wrong.slice(0, 3)).toEqual([])
  const { blocks } = (await service.ask('blocks')).body as { blocks: unknown[] }
  expect(blocks.length).toBeLessThanOrEqual(mayBlock)
  expect(await usedOf(service)).toBe(0)
})
