// Attacks that once ended or froze the service, with the heap of our own Kubernetes manifest. The waits for health are
// printed beside those of a server that does nothing; the test itself holds that the service lives and answers. Its long
// form also holds that no attack keeps it busy for 250 ms, by the processor's time and not by the clock.
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { once } from 'node:events'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { isLong, lengthOf } from '../../../../test/length.ts'
import { until } from '../../../../test/servers/until.ts'
import { attackedService, TOKEN, type AttackedService } from './attacked-service.ts'

vi.setConfig({ testTimeout: 600_000 })

const rows: Record<string, unknown>[] = []
afterAll(() => console.table(rows))

/** An upstream whose reason phrase holds a control character. */
async function brokenUpstream(): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', () => socket.write('HTTP/1.1 200 O\x01K\r\nContent-Length: 0\r\n\r\n'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Opens a connection, sends bytes and reads nothing; it ends with the test. */
async function unread(port: number, bytes: Buffer | string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  socket.pause()
  socket.write(bytes)
  return socket
}

/** Sends a request and gives its status; 0 if there was none. */
async function statusOf(url: string, body?: unknown, headers: Record<string, string> = {}) {
  try {
    const answer = await fetch(url, {
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined
        ? {}
        : { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    await answer.arrayBuffer()
    return answer.status
  } catch {
    return 0
  }
}

const http = ({ port }: AttackedService, path: string) => `http://127.0.0.1:${port('http')}${path}`

/** A gRPC message of many descriptors, `key=<number>` each. */
function descriptors(count: number): Buffer {
  const field = (tag: number, content: Buffer): Buffer => {
    const size: number[] = []
    let rest = content.length
    for (; rest > 127; rest >>= 7) size.push((rest & 127) | 128)
    return Buffer.concat([Buffer.from([tag * 8 + 2, ...size, rest]), content])
  }
  const one = (value: string): Buffer =>
    field(2, field(1, Buffer.concat([field(1, Buffer.from('key')), field(2, Buffer.from(value))])))
  const all = Array.from({ length: count }, (_, i) => one(String(i)))
  const message = Buffer.concat([field(1, Buffer.from('api')), ...all])
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

const CALL = {
  ':method': 'POST',
  ':path': '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit',
  'content-type': 'application/grpc',
}

/** Sends the pieces of one call, each in a frame of its own, and resolves at its end. */
function call(port: number, pieces: Iterable<Buffer>, path = CALL[':path']): Promise<unknown> {
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  session.on('error', () => {})
  onTestFinished(() => session.destroy())
  const stream = session.request({ ...CALL, ':path': path })
  stream.on('error', () => {})
  stream.resume()
  for (const piece of pieces) stream.write(piece)
  stream.end()
  return once(stream, 'close').finally(() => session.destroy())
}

const pipelined = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(500)

/** Every attack: what it does to a service. */
const attacks: Record<string, (service: AttackedService) => Promise<unknown>> = {
  '18,000 and 84,000 descriptors in one message': async ({ port }) => {
    await Promise.all([
      call(port('grpc'), [descriptors(18_000)]),
      call(port('grpc'), [descriptors(84_000)]),
    ])
  },
  'one-byte frames after a large part': async ({ port }) => {
    const message = descriptors(84_000)
    const rest = [...message.subarray(-20_000)].map((byte) => Buffer.from([byte]))
    await call(port('grpc'), [message.subarray(0, -20_000), ...rest])
  },
  'an upgrade asked for again and again': async ({ port }) => {
    const sockets = await Promise.all(
      [1, 2].map(() =>
        unread(
          port('proxy'),
          'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n'.repeat(20_000),
        ),
      ),
    )
    for (const socket of sockets) socket.resume()
    await until('they are done', 5000, async () => sockets.every(({ destroyed }) => destroyed))
  },
  'pipelined requests that are not read': async ({ port }) => {
    const sockets = []
    for (let i = 0; i < lengthOf(40, 800); i++)
      sockets.push(unread(port(i % 2 === 0 ? 'http' : 'proxy'), pipelined))
    await Promise.all(sockets)
  },
  'mute connections and watches': async ({ port }) => {
    const mute = Array.from({ length: 900 }, () => unread(port('grpc'), ''))
    const session = connectHttp2(`http://127.0.0.1:${port('grpc')}`)
    session.on('error', () => {})
    onTestFinished(() => session.destroy())
    for (let i = 0; i < 900; i++) {
      const stream = session.request({ ...CALL, ':path': '/grpc.health.v1.Health/Watch' })
      stream.on('error', () => {})
      stream.end(Buffer.alloc(5))
    }
    await Promise.all(mute)
  },
  'files of 120,000 mistakes, wide ones, and ones of quotes': async ({ file, command }) => {
    const good = readFileSync(file, 'utf8')
    const mistakes = `policies: [${'0,'.repeat(200_000)}]\n`
    const wide = `${good}\nmore: {${Array.from({ length: 40_000 }, (_, i) => `a-rather-long-name-${i}: 1`).join(', ')}}\n`
    const shallow = `policies: [${'{},'.repeat(30_000)}]\n`
    const quotes = '"'.repeat(900_000)
    for (const text of [mistakes, wide, shallow, quotes]) {
      const before = command.errors().length
      writeFileSync(file, text)
      command.child.kill('SIGHUP')
      await until('it was refused', 150_000, async () =>
        command.errors().slice(before).includes('the old'),
      )
    }
    writeFileSync(file, good)
  },
  '5,000 overrides, each set by itself': async ({ port }) => {
    const set = async (i: number) => {
      const url = `http://127.0.0.1:${port('admin')}/v1/admin/set-override`
      const body = { policy: 'api', rule: 'per-key', when: { key: `key-${i}` }, limit: '7/min' }
      expect(await statusOf(url, body, { authorization: `Bearer ${TOKEN}` })).toBe(200)
    }
    const count = lengthOf(200, 5000)
    for (let i = 0; i < count; i += 8)
      await Promise.all(Array.from({ length: Math.min(8, count - i) }, (_, n) => set(i + n)))
  },
  'unique keys in headers of 8 kB': async ({ port }) => {
    for (let i = 0; i < lengthOf(1000, 20_000); i += 8) {
      const ask = (n: number) =>
        statusOf(`http://127.0.0.1:${port('http')}/v1/auth/nginx?policy=api`, undefined, {
          'x-original-uri': '/',
          'x-key': `${n}-${'k'.repeat(8000)}`,
        })
      await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map((n) => ask(i + n)))
    }
  },
  'keys that are slices of large headers': async ({ port }) => {
    for (let i = 0; i < lengthOf(1000, 20_000); i += 8) {
      const ask = (n: number) =>
        statusOf(`http://127.0.0.1:${port('http')}/v1/auth/nginx?policy=api`, undefined, {
          'x-original-uri': '/',
          'x-key': `${n}-${'k'.repeat(100)}`,
          'x-padding': 'p'.repeat(12_000),
        })
      await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map((n) => ask(i + n)))
    }
  },
  'batches of 1,000 entries with 49 rules': async (service) => {
    const entry = { policy: 'wide', attributes: { user: 'ann' } }
    const body = JSON.stringify({ checks: Array.from({ length: 1000 }, () => entry) })
    await Promise.all([1, 2, 3, 4].map(() => statusOf(http(service, '/v1/check'), body)))
  },
  'unique keys of 128 characters beyond Latin-1': async (service) => {
    for (let i = 0; i < lengthOf(10, 2200); i++) {
      const checks = Array.from({ length: 500 }, (_, n) => ({
        policy: 'api',
        attributes: { key: `${'漢'.repeat(118)}${i * 500 + n}` },
      }))
      expect(await statusOf(http(service, '/v1/check'), { checks })).toBe(200)
    }
  },
  'Forwarded fields of blanks': async ({ port }) => {
    const forwarded = `for="x${' '.repeat(14_000)}`
    for (let i = 0; i < 50; i++)
      await statusOf(`http://127.0.0.1:${port('http')}/v1/auth/nginx?policy=api`, undefined, {
        forwarded,
      })
  },
  'an upstream with a control character in its answer': async ({ port }) => {
    for (let i = 0; i < 20; i++) {
      const status = await statusOf(`http://127.0.0.1:${port('proxy')}/`)
      expect([200, 502]).toContain(status)
    }
  },
}

/** Attacks that fill the memory; they must not end a service with a smaller heap either. */
const filling = [
  'unique keys in headers of 8 kB',
  'unique keys of 128 characters beyond Latin-1',
  'keys that are slices of large headers',
]

/** Runs an attack; gives what there is to say against the service afterwards. */
async function harmOf(name: string, heap?: string): Promise<readonly string[]> {
  const service = await attackedService(await brokenUpstream(), heap)
  const waits = await service.during(() => attacks[name]!(service))
  const { longest, busy, failed, count } = waits.service
  const ms = (value: number) => Math.round(value)
  rows.push({
    attack: name,
    'longest wait for health, ms': ms(longest),
    'of it at most busy, ms': ms(busy),
    'machine stood still, ms': ms(waits.machine.longest),
    MB: ms(service.memory()),
    heap: heap ?? 'of the manifest',
  })
  const { exitCode } = service.command.child
  const status = await statusOf(http(service, '/healthz'))
  return [
    ...(exitCode === null ? [] : [`it ended with exit code ${exitCode}`]),
    ...(failed === 0 ? [] : [`${failed} looks at its health failed`]),
    ...(count > 0 ? [] : ['its health was not looked at']),
    ...(isLong && busy >= 250 ? [`it was busy for ${busy} ms`] : []),
    ...(status === 200 ? [] : [`its health is ${status}`]),
  ]
}

describe('a service with the heap of the manifest lives through', () => {
  test.each(Object.keys(attacks))('%s', async (name) => {
    expect(await harmOf(name)).toEqual([])
  })
})

describe.each(isLong ? [96, 128, 192] : [96])(
  'a service with a heap of %i MB lives through',
  (size) => {
    test.each(isLong ? filling : filling.slice(0, 1))('%s', async (name) => {
      expect(await harmOf(name, `--max-old-space-size=${size}`)).toEqual([])
    })
  },
)
