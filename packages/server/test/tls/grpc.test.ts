// The gRPC listener over TLS, asked by the runtime that Node services use.
import { readFileSync } from 'node:fs'
import { connect as connectPlain } from 'node:net'
import { credentials, type ChannelCredentials } from '@grpc/grpc-js'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { until } from '../../../../test/servers/until.ts'
import { grpcJsClient } from '../envoy/grpc-js-client.ts'
import { running, sample, type Running } from '../running.ts'
import {
  authority,
  replaceFile,
  type Authority,
  type Pair,
} from '../../../../test/tls/authority.ts'

const OK = 0
const UNAVAILABLE = 14

let ours: Authority
let stranger: Authority
let server: Pair
beforeAll(() => {
  ours = authority()
  stranger = authority('stranger')
  server = ours.issue('localhost')
})
afterAll(() => {
  ours.close()
  stranger.close()
})

const start = (tls: object) =>
  running({ ...sample, listeners: { grpc: { port: 0, tls: { ...server, ...tls } } } })
const addressOf = ({ listeners }: Running) =>
  new URL(listeners.find(({ name }) => name === 'grpc')!.url)

/** The status of one call over a new connection. */
async function statusBy(service: Running, by: ChannelCredentials): Promise<number> {
  const client = grpcJsClient(`localhost:${addressOf(service).port}`, by)
  onTestFinished(() => client.close())
  const descriptors = [{ entries: [['user', 'ann']] as const }]
  const { status } = await client.ask({ domain: 'api', hits: 1, descriptors })
  return status
}
const trusting = (by: Authority, pair?: Pair) =>
  credentials.createSsl(
    readFileSync(by.ca),
    ...(pair ? [readFileSync(pair.key), readFileSync(pair.cert)] : []),
  )

test('calls over TLS, for who trusts the certificate', async () => {
  const service = await start({})
  expect(addressOf(service).protocol).toBe('https:')
  expect(await statusBy(service, trusting(ours))).toBe(OK)
  expect(await statusBy(service, trusting(stranger))).toBe(UNAVAILABLE)
  expect(await statusBy(service, credentials.createInsecure())).toBe(UNAVAILABLE)
})

test('mutual TLS: a caller without a known certificate has no connection', async () => {
  const service = await start({ ca: ours.ca })
  expect(await statusBy(service, trusting(ours))).toBe(UNAVAILABLE)
  expect(await statusBy(service, trusting(ours, stranger.issue('proxy')))).toBe(UNAVAILABLE)
  expect(await statusBy(service, trusting(ours, ours.issue('proxy')))).toBe(OK)
})

test('with a list of names, a caller that has none of them has no connection', async () => {
  const service = await start({ ca: ours.ca, clientNames: ['proxy', 'spiffe://prod/edge'] })
  expect(await statusBy(service, trusting(ours))).toBe(UNAVAILABLE)
  expect(await statusBy(service, trusting(ours, ours.issue('other')))).toBe(UNAVAILABLE)
  expect(await statusBy(service, trusting(ours, stranger.issue('proxy')))).toBe(UNAVAILABLE)
  expect(await statusBy(service, trusting(ours, ours.issue('proxy')))).toBe(OK)
})

test('when it is optional, a wrong one is refused still', async () => {
  const service = await start({ ca: ours.ca, clients: 'optional' })
  expect(await statusBy(service, trusting(ours))).toBe(OK)
  expect(await statusBy(service, trusting(ours, stranger.issue('proxy')))).toBe(UNAVAILABLE)
  expect(await statusBy(service, trusting(ours, ours.issue('proxy')))).toBe(OK)
})

test('a renewed certificate is used for new connections, and the open one goes on', async () => {
  const mine = ours.issue('localhost')
  const service = await start(mine)
  const old = grpcJsClient(`localhost:${addressOf(service).port}`, trusting(ours))
  onTestFinished(() => old.close())
  const question = {
    domain: 'api',
    hits: 0,
    descriptors: [{ entries: [['user', 'ann']] as const }],
  }
  expect((await old.ask(question)).status).toBe(OK)
  const other = stranger.issue('localhost')
  replaceFile(mine.key, other.key)
  replaceFile(mine.cert, other.cert)
  expect(await service.reload()).not.toBe('failed')
  expect((await old.ask(question)).status).toBe(OK)
  expect(await statusBy(service, trusting(ours))).toBe(UNAVAILABLE)
  expect(await statusBy(service, trusting(stranger))).toBe(OK)
})

test('a stop does not wait for a handshake that never ends', async () => {
  const service = await running({
    ...sample,
    listeners: { grpc: { port: 0, tls: server } },
    shutdown: { patience: 50 },
  })
  const half = connectPlain(Number(addressOf(service).port), '127.0.0.1').on('error', () => {})
  onTestFinished(() => void half.destroy())
  const started = performance.now()
  await new Promise((resolve) => half.once('connect', resolve))
  await service.stop()
  // The five seconds after which a handshake is given up.
  expect(performance.now() - started).toBeLessThan(5000)
  await until('it is closed', 2000, async () => half.closed || half.readableEnded || half.destroyed)
})
