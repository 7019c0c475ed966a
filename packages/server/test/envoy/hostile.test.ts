// Bytes from strangers: whatever they send, the listener goes on answering, and what it refuses counts nothing.
import { connect as connectSocket } from 'node:net'
import { memoryStore, type Store } from 'sluice'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { fakeClock } from 'sluice/testing'
import { seededRandom } from './random.ts'
import { OK } from './client.ts'
import { call, encode, framed, rawClient } from './raw-client.ts'
import { NOON, startTestServer, type TestServer } from './server.ts'

const PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'
const VALID = encode({
  domain: 'shop',
  hits: 2,
  descriptors: [
    { entries: [['remote_address', '10.0.0.1']], limit: [7, 2], hits: 3 },
    {
      entries: [
        ['path', '/login'],
        ['account', 'amy'],
        ['remote_address', '10.0.0.1'],
      ],
    },
  ],
})

let server: TestServer
let takes: number
beforeAll(async () => {
  const inner = memoryStore({ clock: fakeClock(NOON) })
  const store: Store = {
    sync: true,
    take: (checks) => {
      takes += 1
      return inner.take(checks)
    },
    peek: (checks) => inner.peek(checks),
    refund: (checks) => {
      takes += 1
      return inner.refund(checks)
    },
    reset: (checks) => inner.reset(checks),
    close: () => inner.close(),
  }
  server = await startTestServer({ store })
})
afterAll(() => server.close(100))
beforeEach(() => {
  takes = 0
})

async function isWell(): Promise<boolean> {
  const client = rawClient(server.url)
  const { code } = await client.ask({ domain: 'nowhere', descriptors: [{ entries: [['a', 'b']] }] })
  await client.close()
  return code === OK
}

/** Sends messages; every status but OK must have left the store alone. */
async function send(messages: readonly Buffer[], paths: readonly string[] = [PATH]) {
  const client = rawClient(server.url)
  const statuses = new Map<number | undefined, number>()
  let chargedInVain = 0
  for (const message of messages) {
    for (const path of paths) {
      const before = takes
      const { status } = await call(client.session, path, message, {})
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status !== 0) chargedInVain += takes - before
    }
  }
  await client.close()
  expect(chargedInVain).toBe(0)
  return statuses
}

test('every beginning of a request is an answer or a mistake', async () => {
  const messages = Array.from(VALID, (_, i) => framed(VALID.subarray(0, i)))
  const statuses = await send(messages)
  expect(new Set(statuses.keys())).toEqual(new Set([0, 3]))
  expect(await isWell()).toBe(true)
})

test('requests with changed bytes are answers or mistakes', async () => {
  const random = seededRandom(6)
  const pick = (below: number): number => Math.floor(random() * below)
  const messages = Array.from({ length: 400 }, () => {
    const message = Buffer.from(VALID)
    for (let i = pick(4); i >= 0; i--) message[pick(message.length)] = pick(256)
    return framed(message)
  })
  const statuses = await send(messages)
  expect(new Set(statuses.keys())).toEqual(new Set([0, 3]))
  expect(statuses.get(3)).toBeGreaterThan(50)
  expect(await isWell()).toBe(true)
})

test('random bytes in place of frames, on every path', async () => {
  const random = seededRandom(7)
  const messages = Array.from({ length: 200 }, () =>
    Buffer.from(
      Array.from({ length: Math.floor(random() * 80) }, () => Math.floor(random() * 256)),
    ),
  )
  const statuses = await send(messages, [PATH, '/grpc.health.v1.Health/Check', '/'])
  for (const status of statuses.keys()) expect([0, 3, 5, 8, 12]).toContain(status)
  expect(takes).toBe(0)
  expect(await isWell()).toBe(true)
})

test('bytes that are no HTTP/2 end their connection alone', async () => {
  const random = seededRandom(8)
  const { hostname, port } = new URL(server.url)
  const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  for (let i = 0; i < 200; i++) {
    const noise = Buffer.from(Array.from({ length: 100 }, () => Math.floor(random() * 256)))
    const socket = connectSocket(Number(port), hostname)
    socket.on('error', () => {})
    socket.end(i % 2 === 0 ? noise : Buffer.concat([preface, noise]))
    await new Promise((resolve) => socket.on('close', resolve).resume())
  }
  expect(takes).toBe(0)
  expect(await isWell()).toBe(true)
})

test('streams that are reset by the thousand cost nothing but their own connection', async () => {
  const client = rawClient(server.url)
  for (let i = 0; i < 2000 && !client.session.destroyed; i++) {
    const stream = client.session.request({
      ':method': 'POST',
      ':path': PATH,
      'content-type': 'application/grpc',
    })
    stream.on('error', () => {})
    stream.close(8)
    if (i % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await client.close()
  expect(takes).toBe(0)
  expect(await isWell()).toBe(true)
})

test('a request of more than 128 descriptors is refused before anything is counted', async () => {
  const descriptors = (count: number) =>
    Array.from({ length: count }, (_, i) => ({
      entries: [['remote_address', `10.0.${i >> 8}.${i & 255}`] as const],
    }))
  const client = rawClient(server.url)
  expect((await client.ask({ domain: 'shop', descriptors: descriptors(128) })).status).toBe(0)
  takes = 0
  for (const count of [129, 18_000])
    expect((await client.ask({ domain: 'shop', descriptors: descriptors(count) })).status).toBe(8)
  expect(takes).toBe(0)
  await client.close()
})

test('the number of accepted descriptors is a setting', async () => {
  const wide = await startTestServer({ maxDescriptors: 200 })
  const client = rawClient(wide.url)
  const descriptors = Array.from({ length: 200 }, () => ({ entries: [['a', 'b'] as const] }))
  expect((await client.ask({ domain: 'shop', descriptors })).status).toBe(0)
  const more = [...descriptors, ...descriptors]
  expect((await client.ask({ domain: 'shop', descriptors: more })).status).toBe(8)
  await client.close()
  await wide.close(100)
})

test('messages under way on one connection are bounded together', async () => {
  const small = await startTestServer({ maxMessage: 10_000 })
  const client = rawClient(small.url)
  const begin = () => {
    const stream = client.session.request({
      ':method': 'POST',
      ':path': PATH,
      'content-type': 'application/grpc',
    })
    stream.on('error', () => {})
    const head = Buffer.alloc(5)
    head.writeUInt32BE(10_000, 1)
    stream.write(Buffer.concat([head, Buffer.alloc(9000)]))
    return new Promise<unknown>((resolve) => {
      stream.on('response', (headers) => resolve(headers['grpc-status']))
    })
  }
  const statuses = Array.from({ length: 5 }, begin)
  expect(await Promise.race(statuses)).toBe('8')
  await client.close()
  await small.close(0)
})
