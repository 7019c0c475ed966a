// What gRPC itself demands of the listener: statuses, deadlines, health, reflection, an orderly end.
import { createServer } from 'node:net'
import { connect as connectPlain } from 'node:net'
import { connect } from 'node:http2'
import { fileURLToPath } from 'node:url'
import { credentials, loadPackageDefinition } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { memoryStore, SluiceError, type Store } from 'sluice'
import { afterEach, describe, expect, test } from 'vitest'
import { until } from '../../../../test/servers/until.ts'
import { OK } from './client.ts'
import { call, encode, framed, rawClient } from './raw-client.ts'
import { SILENT, startTestServer, type TestServer, type TestServerOptions } from './server.ts'

const PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'
const QUESTION = {
  domain: 'shop',
  descriptors: [{ entries: [['remote_address', '10.0.0.1'] as const] }],
}
const BODY = framed(encode(QUESTION))
const LOOK = {
  domain: 'shop',
  descriptors: [{ entries: [['remote_address', '10.0.0.1'] as const], hits: 0 }],
}

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

async function start(options: TestServerOptions = {}) {
  const server = await startTestServer(options)
  closing.push(() => server.close(100))
  const client = rawClient(server.url)
  closing.push(() => client.close())
  return { server, client, session: client.session }
}

const usedIn = async (server: TestServer): Promise<number> => {
  const client = rawClient(server.url)
  const { statuses } = await client.ask(LOOK)
  await client.close()
  return 5 - (statuses?.[0]?.remaining ?? NaN)
}

describe('statuses', () => {
  test.each([
    ['a method that is not there', '/a/b', BODY, {}, 12],
    ['no message', PATH, Buffer.alloc(0), {}, 3],
    ['half a message', PATH, BODY.subarray(0, 20), {}, 3],
    ['two messages', PATH, Buffer.concat([BODY, BODY]), {}, 3],
    ['a compressed message', PATH, Buffer.concat([Buffer.from([1]), BODY.subarray(1)]), {}, 12],
    ['bytes that are no protobuf', PATH, framed(Buffer.from([0xff, 0xff])), {}, 3],
    ['a message that claims to be huge', PATH, Buffer.from([0, 255, 255, 255, 255, 1]), {}, 8],
    ['a message that is huge', PATH, framed(Buffer.alloc(3_000_000, 0x2d)), {}, 8],
    ['a timeout that is none', PATH, BODY, { 'grpc-timeout': '5 minutes' }, 3],
    ['no time left', PATH, BODY, { 'grpc-timeout': '0m' }, 4],
    ['enough time', PATH, BODY, { 'grpc-timeout': '1H' }, 0],
    ['a content type with parameters', PATH, BODY, { 'content-type': 'application/grpc+proto' }, 0],
  ])('%s', async (_, path, body, headers, expected) => {
    const { server, session } = await start()
    const reply = await call(session, path, body, headers)
    expect(reply.status).toBe(expected)
    expect(reply.headers[':status']).toBe(200)
    expect(reply.headers['content-type']).toBe('application/grpc')
    expect(await usedIn(server)).toBe(expected === 0 ? 1 : 0)
  })

  test('what is no gRPC gets a status of HTTP', async () => {
    const { session } = await start()
    const html = await call(session, PATH, BODY, { 'content-type': 'text/html' })
    const get = await call(session, PATH, BODY, { ':method': 'GET' })
    expect([html.headers[':status'], get.headers[':status']]).toEqual([415, 405])
  })

  test('HTTP/1 on the port ends that connection alone', async () => {
    const { server, client } = await start()
    const { hostname, port } = new URL(server.url)
    const socket = connectPlain(Number(port), hostname)
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    await new Promise((resolve) => socket.on('error', resolve).on('close', resolve).resume())
    expect(await client.ask(QUESTION)).toMatchObject({ code: OK })
  })

  test('a port that is taken is reported', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => taken.once('listening', resolve))
    closing.push(() => taken.close())
    const { port } = taken.address() as { port: number }
    await expect(startTestServer({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })
})

/** A store that answers when, and as, the test says. */
function storeThat(take: Store['take']): Store {
  const inner = memoryStore()
  return {
    take,
    peek: (checks) => inner.peek(checks),
    refund: (checks) => inner.refund(checks),
    reset: (checks) => inner.reset(checks),
    close: () => inner.close(),
  }
}

describe('a store that does not answer as it should', () => {
  const never = (): Promise<never> => new Promise(() => {})

  test('trap: a store that is gone answered with UNKNOWN; here it is UNAVAILABLE', async () => {
    const gone = new SluiceError('store-unreachable', 'no connection', { transient: true })
    const { session } = await start({ store: storeThat(() => Promise.reject(gone)) })
    const reply = await call(session, PATH, BODY, {})
    expect(reply.status).toBe(14)
    expect(reply.headers['grpc-message']).toBe('no connection')
  })

  test('a bug is INTERNAL, is logged, and tells strangers nothing', async () => {
    const logged: object[] = []
    const log = { ...SILENT, error: (fields: object) => logged.push(fields) }
    const store = storeThat(() => Promise.reject(new TypeError('secret')))
    const { session } = await start({ store, log })
    const reply = await call(session, PATH, BODY, {})
    expect(reply.status).toBe(13)
    expect(reply.headers['grpc-message']).not.toContain('secret')
    expect(logged).toEqual([{ error: 'TypeError: secret' }])
  })

  test('no call waits longer than the time that its caller gives', async () => {
    const { session } = await start({ store: storeThat(never) })
    const reply = await call(session, PATH, BODY, { 'grpc-timeout': '20m' })
    expect(reply.status).toBe(4)
  })

  test('a caller that disconnects leaves nothing behind', async () => {
    let answer: (() => void) | undefined
    const waits = storeThat(
      () =>
        new Promise((_, reject) => (answer = () => reject(new SluiceError('store-failed', 'x')))),
    )
    const { client, session } = await start({ store: waits })
    const stream = session.request({
      ':method': 'POST',
      ':path': PATH,
      'content-type': 'application/grpc',
    })
    stream.on('error', () => {})
    stream.end(BODY)
    await until('the question has arrived', 2000, async () => answer !== undefined)
    stream.destroy()
    answer!()
    expect(
      await client.ask({ domain: 'nowhere', descriptors: QUESTION.descriptors }),
    ).toMatchObject({ code: OK })
  })
})

describe('callers that are slow', () => {
  test('are cut off before they have asked anything', async () => {
    const { server, session } = await start({ requestTimeout: 50 })
    const stream = session.request({
      ':method': 'POST',
      ':path': PATH,
      'content-type': 'application/grpc',
    })
    stream.on('error', () => {})
    stream.write(BODY.subarray(0, 10))
    await new Promise((resolve) => stream.on('close', resolve))
    expect(stream.rstCode).toBe(8)
    expect(await usedIn(server)).toBe(0)
  })

  test('have asked nothing when they reset a half-sent question', async () => {
    const { server, session } = await start()
    const stream = session.request({
      ':method': 'POST',
      ':path': PATH,
      'content-type': 'application/grpc',
    })
    stream.on('error', () => {})
    stream.write(BODY)
    await new Promise((resolve) => setImmediate(resolve))
    stream.close(8)
    await new Promise((resolve) => stream.on('close', resolve))
    expect(await usedIn(server)).toBe(0)
  })
})

const protos = fileURLToPath(new URL('../../../../spec/protos', import.meta.url))

describe('health', () => {
  interface HealthStub {
    Check(
      request: object,
      done: (error: { code: number } | null, reply?: { status: string }) => void,
    ): void
    Watch(request: object): NodeJS.EventEmitter & { cancel(): void }
    close(): void
  }
  function healthOf({ target }: TestServer): HealthStub {
    const definition = loadSync('grpc/health/v1/health.proto', {
      enums: String,
      includeDirs: [protos],
    })
    const { Health } = loadPackageDefinition({ Health: definition['grpc.health.v1.Health']! })
    const Stub = Health as unknown as new (...args: unknown[]) => HealthStub
    const stub = new Stub(target, credentials.createInsecure())
    closing.push(() => stub.close())
    return stub
  }
  const check = (stub: HealthStub, service: string): Promise<string | number> =>
    new Promise((resolve) =>
      stub.Check({ service }, (error, reply) => resolve(error?.code ?? reply!.status)),
    )

  test('of the server and of its services; others are not found', async () => {
    const { server } = await start()
    const stub = healthOf(server)
    const names = ['', 'ratelimit', 'envoy.service.ratelimit.v3.RateLimitService', 'other']
    const answers = await Promise.all(names.map((name) => check(stub, name)))
    expect(answers).toEqual(['SERVING', 'SERVING', 'SERVING', 5])
    server.health.become('draining')
    expect(await check(stub, '')).toBe('NOT_SERVING')
  })

  test('is sent to those who watch when it changes, until the server ends', async () => {
    const { server } = await start()
    const stub = healthOf(server)
    const heard: string[] = []
    const watching = stub.Watch({ service: '' })
    watching.on('data', ({ status }: { status: string }) => heard.push(status))
    const ended = new Promise((resolve) => watching.on('status', ({ code }) => resolve(code)))
    await until('the first status', 2000, async () => heard.length === 1)
    server.health.become('draining')
    await until('the second status', 2000, async () => heard.length === 2)
    await server.close(2000)
    expect([heard, await ended]).toEqual([['SERVING', 'NOT_SERVING'], 0])
  })

  test('of an unknown service is watched as such', async () => {
    const { server } = await start()
    const watching = healthOf(server).Watch({ service: 'other' })
    watching.on('error', () => {})
    const status = await new Promise((resolve) => watching.on('data', resolve))
    expect(status).toEqual({ status: 'SERVICE_UNKNOWN' })
    watching.cancel()
  })
})

describe('reflection', () => {
  const REFLECT = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'
  const LIST_SERVICES = Buffer.from([0x3a, 0])
  const bySymbol = (name: string) =>
    Buffer.concat([Buffer.from([0x22, name.length]), Buffer.from(name)])

  test('is off unless it is switched on', async () => {
    const { session } = await start()
    expect((await call(session, REFLECT, framed(LIST_SERVICES), {})).status).toBe(12)
  })

  test.each([
    ['lists the services', LIST_SERVICES, 'envoy.service.ratelimit.v3.RateLimitService'],
    [
      'shows the file of a service',
      bySymbol('envoy.service.ratelimit.v3.RateLimitService'),
      'duration_until_reset',
    ],
    ['shows the file of a message', bySymbol('google.protobuf.Duration'), 'nanos'],
    [
      'says what it does not know',
      bySymbol('nothing.at.all'),
      'there is nothing named nothing.at.all',
    ],
  ])('%s', async (_, question, expected) => {
    const { session } = await start({ reflection: true })
    for (const path of [REFLECT, REFLECT.replace('v1', 'v1alpha')]) {
      const reply = await call(session, path, framed(question), {})
      expect(reply.status).toBe(0)
      expect(reply.message?.toString('latin1')).toContain(expected)
    }
  })
})

describe('at the end,', () => {
  test('calls that have begun are answered, new ones are not taken', async () => {
    let answer: (() => void) | undefined
    const inner = memoryStore()
    const store = storeThat(
      (checks) => new Promise((resolve) => (answer = () => resolve(inner.take(checks)))),
    )
    const server = await startTestServer({ store })
    const client = rawClient(server.url)
    const asked = client.ask(QUESTION)
    await until('the question has arrived', 2000, async () => answer !== undefined)
    const closed = server.close(5000)
    answer!()
    expect(await asked).toMatchObject({ status: 0, code: OK })
    await closed
    const late = connect(server.url)
    expect(await new Promise((resolve) => late.on('error', resolve))).toMatchObject({
      code: 'ECONNREFUSED',
    })
  })

  test('calls that never end are cut off', async () => {
    let asked = false
    const store = storeThat(() => new Promise(() => (asked = true)))
    const server = await startTestServer({ store })
    const reply = call(rawClient(server.url).session, PATH, BODY, {})
    await until('the question has arrived', 2000, async () => asked)
    await server.close(10)
    expect((await reply).status).toBeUndefined()
  })
})

test('metrics are by domain and status, never by the words of requests', async () => {
  const { server, client, session } = await start()
  await client.ask({ ...QUESTION, hits: 5 })
  await client.ask(QUESTION)
  await client.ask({ domain: 'made up', descriptors: QUESTION.descriptors })
  await client.ask({ domain: 'shop', descriptors: [{ entries: [['plan', 'trial']], hits: 2 }] })
  await call(session, PATH, framed(Buffer.from([0xff])), {})
  const text = server.metrics.text()
  expect(text).toContain('sluice_grpc_calls_total{status="OK"} 4')
  expect(text).toContain('sluice_grpc_calls_total{status="INVALID_ARGUMENT"} 1')
  expect(text).toContain('sluice_envoy_requests_total{domain="shop",code="OK"} 2')
  expect(text).toContain('sluice_envoy_requests_total{domain="shop",code="OVER_LIMIT"} 1')
  expect(text).toContain('sluice_envoy_requests_total{domain="",code="OK"} 1')
  expect(text).toContain('sluice_envoy_shadow_refusals_total{domain="shop"} 1')
  expect(text).not.toMatch(/made up|10\.0\.0\.1|trial/)
})
