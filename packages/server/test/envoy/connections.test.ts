// Clients that connect and then do nothing, or do not read: each is let go after its time.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { OK } from './client.ts'
import { framed, rawClient } from './raw-client.ts'
import { startTestServer, type TestServer } from './server.ts'

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
const WATCH = '/grpc.health.v1.Health/Watch'

let server: TestServer
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  server = await startTestServer({ reflection: true })
})
afterEach(async () => {
  vi.useRealTimers()
  await server.close(0)
})

async function connected(bytes?: Buffer): Promise<Socket> {
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  // Whatever the server has sent shows that it has accepted the connection.
  await once(socket, 'data')
  if (bytes !== undefined) socket.write(bytes)
  return socket
}

/** Lets sockets be read, written and closed. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Waits until the server has received everything that was sent before. */
function pinged(session: ClientHttp2Session): Promise<void> {
  return new Promise((resolve) => {
    const ping = () => session.ping(() => resolve())
    if (session.connecting) session.once('connect', ping)
    else ping()
  })
}

/** Time passes for the server until the socket is closed; the number of seconds that it took. */
async function secondsOpen(socket: Socket, most: number): Promise<number> {
  let isClosed = false
  socket.once('close', () => (isClosed = true))
  socket.resume()
  for (let second = 1; second <= most; second++) {
    vi.advanceTimersByTime(1000)
    await turns()
    if (isClosed) return second
  }
  return Infinity
}

test('a connection without a preface ends after 5 s', async () => {
  expect(await secondsOpen(await connected(), 10)).toBeLessThanOrEqual(6)
})

test('a connection with a preface and no SETTINGS ends after 5 s', async () => {
  expect(await secondsOpen(await connected(PREFACE), 10)).toBeLessThanOrEqual(6)
})

test('a session that does not answer pings ends after 50 s', async () => {
  const socket = await connected(Buffer.concat([PREFACE, SETTINGS]))
  const seconds = await secondsOpen(socket, 90)
  expect(seconds).toBeGreaterThan(6)
  expect(seconds).toBeLessThanOrEqual(55)
})

test('a session that answers pings is closed when it has had no call for 15 minutes', async () => {
  const client = connectHttp2(server.url)
  await pinged(client)
  let isClosed = false
  client.once('close', () => (isClosed = true))
  let seconds = 0
  for (; seconds < 1200 && !isClosed; seconds += 10) {
    vi.advanceTimersByTime(10_000)
    await turns()
  }
  expect(seconds).toBeGreaterThanOrEqual(900)
  expect(seconds).toBeLessThan(960)
})

function open(session: ClientHttp2Session, path: string) {
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
  })
  stream.on('error', () => {})
  return stream
}

test.each([WATCH, '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'])(
  'a call of %s without a message is cancelled after 10 s',
  async (path) => {
    const client = connectHttp2(server.url)
    const stream = open(client, path)
    await pinged(client)
    let isClosed = false
    stream.once('close', () => (isClosed = true))
    stream.resume()
    for (let second = 0; second < 15 && !isClosed; second++) {
      vi.advanceTimersByTime(1000)
      await turns()
    }
    expect(isClosed).toBe(true)
    client.destroy()
  },
)

test('a connection has at most eight Watch calls', async () => {
  const client = connectHttp2(server.url)
  const statuses = Array.from({ length: 9 }, () => {
    const stream = open(client, WATCH)
    stream.write(framed(Buffer.alloc(0)))
    return once(stream, 'response').then(
      ([headers]) => (headers as Record<string, unknown>)['grpc-status'],
    )
  })
  expect(await Promise.all(statuses)).toEqual([...Array.from({ length: 8 }), '8'])
  client.destroy()
})

test('an address has no more unanswered calls than the setting says, over all its connections', async () => {
  await server.close(0)
  server = await startTestServer({ maxRequestsPerAddress: 3 })
  const clients = [connectHttp2(server.url), connectHttp2(server.url)]
  const watch = (i: number): Promise<unknown> => {
    const stream = open(clients[i % 2]!, WATCH)
    stream.write(framed(Buffer.alloc(0)))
    return once(stream, 'response').then(
      ([headers]) => (headers as Record<string, unknown>)['grpc-status'],
    )
  }
  for (let i = 0; i < 3; i++) expect(await watch(i)).toBeUndefined()
  const RESOURCE_EXHAUSTED = '8'
  expect(await watch(3)).toBe(RESOURCE_EXHAUSTED)
  expect(await watch(4)).toBe(RESOURCE_EXHAUSTED)
  // Another address has its own.
  const other = connectHttp2(server.url, { localAddress: '127.0.0.2' } as object)
  clients.push(other)
  const stream = open(other, WATCH)
  stream.write(framed(Buffer.alloc(0)))
  const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
  expect(headers['grpc-status']).toBeUndefined()
  // An answered call makes room.
  clients[0]!.destroy()
  await expect.poll(() => watch(5)).toBeUndefined()
  for (const client of clients) client.destroy()
})

test('the server still answers others', async () => {
  await connected()
  const client = rawClient(server.url)
  const { code } = await client.ask({ domain: 'nowhere', descriptors: [{ entries: [['a', 'b']] }] })
  expect(code).toBe(OK)
  await client.close()
})
