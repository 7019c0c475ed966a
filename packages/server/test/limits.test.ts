// How much a stranger may send: bodies, messages and headers, on every protocol, and nothing is counted for more.
import { connect, type Socket } from 'node:net'
import { credentials, loadPackageDefinition, Metadata, type ServiceError } from '@grpc/grpc-js'
import { fileURLToPath } from 'node:url'
import { loadSync } from '@grpc/proto-loader'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { running, type Running } from './running.ts'

const policies = [{ name: 'api', rules: [{ name: 'all', by: [], limit: '100/h' }] }]
const remaining = async ({ post }: Running) =>
  (await post('/v1/peek', { attributes: {} })).body.remaining

describe('over HTTP,', () => {
  const small = { maxBody: 2048, maxHeaders: 4096 }
  const start = () => running({ policies, listeners: { http: { port: 0, ...small } } })

  test.each([
    ['at the limit', 2048, 200],
    ['one byte more', 2049, 413],
    ['far more', 500_000, 413],
  ])('a body %s is %i bytes: %i', async (_, size, status) => {
    const service = await start()
    const [head, tail] = ['{"attributes":{},"policy":"api"', '}']
    const body = head + ' '.repeat(size - head.length - tail.length) + tail
    const answer = await service.post('/v1/check', body)
    expect(answer.status).toBe(status)
    expect(await remaining(service)).toBe(status === 200 ? 99 : 100)
  })

  test('a body without an announced length is cut at the limit', async () => {
    const service = await start()
    const answer = await raw(service.url, [
      'POST /v1/check HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
      ...Array.from({ length: 40 }, () => `100\r\n${' '.repeat(256)}\r\n`),
    ])
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
    expect(await remaining(service)).toBe(100)
  })

  test.each([
    ['many bytes', 'X: ' + 'y'.repeat(5000) + '\r\n'],
    ['many fields', Array.from({ length: 1500 }, (_, i) => `X-${i}: 1\r\n`).join('')],
  ])('headers of %s are 431, and the connection ends', async (_, fields) => {
    const service = await start()
    const answer = await raw(service.url, [`GET /healthz HTTP/1.1\r\nHost: x\r\n${fields}\r\n`])
    expect(answer).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/)
    expect(answer).toMatch(/connection: close/i)
    expect((await service.get('/healthz')).status).toBe(200)
  })

  test('a target as long as the headers may be is 431', async () => {
    const { url } = await start()
    const answer = await raw(url, [`GET /${'a'.repeat(5000)} HTTP/1.1\r\nHost: x\r\n\r\n`])
    expect(answer).toMatch(/^HTTP\/1\.1 431 /)
  })
})

describe('over gRPC,', () => {
  const RESOURCE_EXHAUSTED = 8
  const start = (more: object = {}) =>
    running({ policies, listeners: { grpc: { port: 0, ...more } } })

  test.each([
    ['below the limit', 1000, 0],
    ['beyond it', 3000, RESOURCE_EXHAUSTED],
    ['far beyond it', 3_000_000, RESOURCE_EXHAUSTED],
  ])('a message %s', async (_, size, status) => {
    const service = await start({ maxMessage: 2048 })
    const asked = await ask(service, 'x'.repeat(size), {})
    expect(asked.code).toBe(status)
    expect(await remaining(service)).toBe(status === 0 ? 99 : 100)
  })

  test.each([
    ['few bytes', { 'x-one': 'y'.repeat(100) }, 0],
    ['many bytes', { 'x-one': 'y'.repeat(6000) }, RESOURCE_EXHAUSTED],
    [
      'many fields',
      Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`x-${i}`, 'y'.repeat(20)])),
      RESOURCE_EXHAUSTED,
    ],
  ])('headers of %s', async (_, fields, status) => {
    const service = await start({ maxHeaders: 4096 })
    const asked = await ask(service, 'x', fields)
    expect(asked.code).toBe(status)
    expect((await ask(service, 'x', {})).code).toBe(0)
    expect(await remaining(service)).toBe(status === 0 ? 98 : 99)
  })

  test('beyond the most connections, new ones are dropped', async () => {
    const service = await start({ maxConnections: 2 })
    const port = Number(new URL(service.listeners.find(({ name }) => name === 'grpc')!.url).port)
    const sockets = await Promise.all(Array.from({ length: 6 }, () => opened(port)))
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()))
    await vi.waitFor(() => expect(sockets.filter(({ closed }) => closed)).toHaveLength(4), 5000)
  })
})

const protos = fileURLToPath(new URL('../../../spec/protos', import.meta.url))

/** One call by @grpc/grpc-js with a descriptor of some size. */
function ask(
  { listeners }: Running,
  value: string,
  fields: Record<string, string>,
): Promise<{ code: number }> {
  const definition = loadSync('envoy/service/ratelimit/v3/rls.proto', { includeDirs: [protos] })
  const service = definition['envoy.service.ratelimit.v3.RateLimitService']!
  const Service = loadPackageDefinition({ service })['service'] as unknown as new (
    ...args: unknown[]
  ) => {
    ShouldRateLimit(...args: unknown[]): void
    close(): void
  }
  const { host } = new URL(listeners.find(({ name }) => name === 'grpc')!.url)
  const stub = new Service(host, credentials.createInsecure())
  const metadata = new Metadata()
  for (const [name, text] of Object.entries(fields)) metadata.set(name, text)
  const request = { domain: 'api', descriptors: [{ entries: [{ key: 'big', value }] }] }
  return new Promise((resolve) => {
    const done = (error: ServiceError | null): void => {
      stub.close()
      resolve({ code: error === null ? 0 : error.code })
    }
    stub.ShouldRateLimit(request, metadata, { deadline: Date.now() + 5000 }, done)
  })
}

/** Bytes to the port, in parts; gives what came back. */
function raw(url: string, parts: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    let text = ''
    socket.setTimeout(1000, () => socket.destroy())
    socket.on('data', (data) => (text += data.toString('latin1'))).on('error', () => {})
    socket.on('close', () => resolve(text))
    for (const part of parts) socket.write(part)
  })
}

function opened(port: number): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    socket.on('error', () => {}).resume()
  })
}
