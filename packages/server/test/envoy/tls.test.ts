// The gRPC listener over TLS, and for known callers only.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, type SecureClientSessionOptions, type SecureServerOptions } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { call, encode, framed } from './raw-client.ts'
import { startTestServer, type TestServer } from './server.ts'

const PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'
const BODY = framed(encode({ domain: 'shop', descriptors: [{ entries: [['a', 'b']] }] }))

let folder: string
let server: { key: Buffer; cert: Buffer }
let caller: { key: Buffer; cert: Buffer }
const closing: (() => unknown)[] = []
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-tls-'))
  server = certificate('localhost')
  caller = certificate('proxy')
})
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

function certificate(name: string): { key: Buffer; cert: Buffer } {
  const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)]
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2'.split(
    ' ',
  )
  const names = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`]
  execFileSync('openssl', [...words, ...names, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  return { key: readFileSync(key), cert: readFileSync(cert) }
}

async function start(tls: SecureServerOptions): Promise<TestServer> {
  const started = await startTestServer({ tls })
  closing.push(() => started.close(100))
  return started
}

/** The status of a call by a client with these options; an error's code when there was no connection. */
async function statusBy(url: string, options: SecureClientSessionOptions): Promise<unknown> {
  const session = connect(url, { servername: 'localhost', ca: server.cert, ...options })
  closing.push(() => session.destroy())
  const failed = new Promise((resolve) => session.on('error', () => resolve('no connection')))
  const reply = call(session, PATH, BODY, {}).then(({ status }) => status ?? 'no connection')
  return Promise.race([failed, reply])
}

test('calls over TLS', async () => {
  const { url } = await start(server)
  expect(url).toMatch(/^https:/)
  expect(await statusBy(url, {})).toBe(0)
})

test('mutual TLS: a caller without a known certificate has no connection', async () => {
  const mutual = { ca: caller.cert, requestCert: true, rejectUnauthorized: true }
  const { url } = await start({ ...server, ...mutual })
  expect(await statusBy(url, {})).toBe('no connection')
  expect(await statusBy(url, { ...server })).toBe('no connection')
  expect(await statusBy(url, { ...caller })).toBe(0)
})
