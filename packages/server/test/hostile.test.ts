// Bodies, headers and connections of strangers: nothing crashes the service, changes counts or starves others.
import { connect, type Socket } from 'node:net'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../../../test/servers/until.ts'
import { running, type Running } from './running.ts'
import { turnOfServer } from './turn-of-server.ts'

const policies = [
  { name: 'api', rules: [{ name: 'all', by: [], limit: '1000000/h' }] },
  { name: 'key', rules: [{ name: 'key', by: ['key'], limit: '5/h' }] },
]

// Hundreds of requests over real sockets, on a machine that runs other tests meanwhile.
const JSON_TYPE = { 'content-type': 'application/json' }
const remaining = async ({ post }: Running) =>
  (await post('/v1/peek', { policy: 'api', attributes: {} })).body.remaining

/** Bytes to the port, whatever they are; gives what came back. */
function raw(url: string, bytes: string | Buffer): Promise<string> {
  return new Promise((resolve) => {
    const port = Number(new URL(url).port)
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.setTimeout(200, () => void turnOfServer(port).then(() => socket.destroy()))
    socket.on('data', (data) => (text += data.toString('latin1')))
    socket.on('error', () => {})
    socket.on('close', () => resolve(text))
    socket.write(bytes)
  })
}

test.each(['policy', 'attributes', 'key', 'cost', 'takenAt', 'checks'])(
  'a body whose %s is nested deeper than the stack is the mistake of its sender',
  async (name) => {
    const { url, logged } = await running({ policies })
    const deep = '['.repeat(20_000) + ']'.repeat(20_000)
    for (const path of ['/v1/check', '/v1/peek', '/v1/refund', '/v1/reset']) {
      const body = `{"${name}":${deep}}`
      const response = await fetch(url + path, { method: 'POST', headers: JSON_TYPE, body })
      const text = await response.text()
      // An entry of a batch has its answer within the batch.
      expect([path, response.status, text]).toEqual([path, name === 'checks' ? 200 : 400, text])
      expect(text).not.toContain('"status":500')
    }
    expect(logged().filter(({ level }) => level === 'error' || level === 'warn')).toEqual([])
  },
)

test('bodies of any kind get an answer and charge nothing that they do not ask for', async () => {
  const service = await running({ policies })
  const before = await remaining(service)
  // Whatever it holds, none of these asks for the policy that is looked at.
  const members = fc.dictionary(
    fc.constantFrom('policy', 'attributes', 'key', 'cost', 'checks', 'takenAt', '__proto__', 'x'),
    fc.jsonValue({ maxDepth: 3 }),
  )
  const bodies = fc.oneof(
    fc.string().map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value))),
    members.map((value) => Buffer.from(JSON.stringify(value))),
    fc.array(members, { maxLength: 5 }).map((checks) => Buffer.from(JSON.stringify({ checks }))),
  )
  const paths = fc.constantFrom('/v1/check', '/v1/peek', '/v1/refund', '/v1/reset')
  await fc.assert(
    fc.asyncProperty(paths, bodies, async (path, body) => {
      const init = { method: 'POST', headers: JSON_TYPE, body }
      const response = await fetch(service.url + path, init)
      expect([200, 400, 404]).toContain(response.status)
      JSON.parse(await response.text())
    }),
    { numRuns: 400 },
  )
  expect(await remaining(service)).toBe(before)
  expect(service.logged().filter(({ level }) => level === 'error' || level === 'warn')).toEqual([])
})

test('requests that are hardly HTTP get a refusal or silence', async () => {
  const service = await running({ policies })
  const before = await remaining(service)
  const body = '{"policy":"api","attributes":{}}'
  const post = 'POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
  const requests = [
    'GET',
    '\r\n\r\n\r\n',
    '\u0000\u0001\u0002\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    `GET ${'/x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`,
    `${post}Content-Length: -1\r\n\r\n${body}`,
    `${post}Content-Length: 1e3\r\n\r\n${body}`,
    `${post}Content-Length: 999999999999\r\n\r\n${body}`,
    `${post}Content-Length: 5\r\nContent-Length: 32\r\n\r\n${body}`,
    `${post}Content-Length: 32\r\nTransfer-Encoding: chunked\r\n\r\n${body}`,
    `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n${body}\r\n0\r\n\r\n`,
    `${post}Content-Length: 31\r\n\r\n${body}`,
    'GET /metrics\tHTTP/1.1\r\nHost: x\r\n\r\n',
    'GET /v1/policies HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n',
    'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n',
    'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET http://other/v1/policies HTTP/1.1\r\nHost: x\r\n\r\n',
  ]
  for (const request of requests) {
    const answer = await raw(service.url, Buffer.from(request, 'latin1'))
    expect(answer).not.toContain('"allowed":true')
  }
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 300 }), async (bytes) => {
      const answer = await raw(service.url, Buffer.concat([bytes, Buffer.from('\r\n\r\n')]))
      expect(answer === '' || answer.startsWith('HTTP/1.1 4')).toBe(true)
    }),
    { numRuns: 20 },
  )
  expect(await remaining(service)).toBe(before)
  expect((await service.get('/healthz')).status).toBe(200)
})

test('trap: metrics with clients’ keys as labels; here labels come from the file alone', async () => {
  const { post, get, metrics } = await running({ policies })
  for (let i = 0; i < 50; i++) {
    await post('/v1/check', { policy: 'key', key: `secret-${i}` })
    await post('/v1/check', { policy: `secret-${i}`, key: 'a' })
    await get(`/secret-${i}`)
  }
  expect(await metrics()).not.toContain('secret')
})

test('2,000 idle connections and 200 slow ones do not starve a check', async () => {
  const { url, post, metrics } = await running({
    policies,
    listeners: { http: { port: 0, headersTimeout: 2000, requestTimeout: 2000 } },
  })
  const sockets: Socket[] = []
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()))
  const open = (first: string) =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1', () => resolve())
      socket.on('error', reject)
      if (first !== '') socket.write(first)
      sockets.push(socket)
    })
  for (let i = 0; i < 20; i++) await Promise.all(Array.from({ length: 100 }, () => open('')))
  const slow = 'POST /v1/check HTTP/1.1\r\nHost: x\r\nX-Slow: '
  await Promise.all(Array.from({ length: 200 }, () => open(slow)))
  for (const socket of sockets) socket.on('error', () => {}).resume()
  for (let i = 0; i < 50; i++) {
    for (const socket of sockets.slice(2000)) if (socket.writable) socket.write('x')
    expect((await post('/v1/check', { policy: 'key', key: `k${i}` })).body.allowed).toBe(true)
  }
  // Whoever never finishes is let go.
  await until('they are closed', 20_000, async () => {
    const open = /^sluice_http_connections (\d+)$/m.exec(await metrics())?.[1]
    return Number(open) < 10
  })
})

test('beyond the most connections, new ones are dropped and counted', async () => {
  const { url, get, metrics } = await running({
    policies,
    listeners: { http: { port: 0, maxConnections: 5 } },
  })
  await get('/healthz')
  const sockets: Socket[] = []
  for (let i = 0; i < 20; i++) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.on('error', () => {})
    sockets.push(socket)
  }
  await until('some are dropped', 5000, async () => sockets.some(({ destroyed }) => destroyed))
  expect(await metrics()).toMatch(/connections_dropped_total [1-9]/)
  for (const socket of sockets) socket.destroy()
})
