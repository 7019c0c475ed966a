// The HTTP listener over TLS, and for known clients only.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect as connectPlain } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { until } from '../../../../test/servers/until.ts'
import { running, sample } from '../running.ts'
import { authority, type Authority, type Pair } from '../../../../test/tls/authority.ts'
import { ask } from '../../../../test/tls/secure-client.ts'

let ours: Authority
let stranger: Authority
let server: Pair
let caller: Pair
beforeAll(() => {
  ours = authority()
  stranger = authority('stranger')
  server = ours.issue('localhost')
  caller = ours.issue('proxy')
})
afterAll(() => {
  ours.close()
  stranger.close()
})

const start = (tls: object, more: object = {}) =>
  running({ ...sample, listeners: { http: { port: 0, tls: { ...server, ...tls }, ...more } } })
const trusting = () => ({ ca: readFileSync(ours.ca) })
const showing = ({ cert, key }: Pair) => ({ cert: readFileSync(cert), key: readFileSync(key) })

describe('over TLS', () => {
  test('requests are answered, and the address says https', async () => {
    const { url } = await start({})
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    expect(await ask(`${url}/healthz`, trusting())).toMatchObject({ status: 200 })
  })

  test('curl accepts the certificate', async () => {
    const { url } = await start({})
    const args = ['-sS', '--cacert', ours.ca, `${url}/healthz`]
    const { stdout } = await promisify(execFile)('curl', args)
    expect(JSON.parse(stdout)).toMatchObject({ status: 'ok' })
  })

  test.each([
    ['TLSv1.2', 'TLSv1.2', { status: 200, protocol: 'TLSv1.2' }],
    ['TLSv1.3', 'TLSv1.3', { status: 200, protocol: 'TLSv1.3' }],
    ['TLSv1.3', 'TLSv1.2', { error: 'EPROTO' }],
  ] as const)('from %s on, a client of %s', async (minVersion, maxVersion, answer) => {
    const { url } = await start({ minVersion })
    const options = { ...trusting(), maxVersion }
    expect(await ask(`${url}/healthz`, options)).toMatchObject(answer)
  })

  test('plain text and noise on the port end with themselves', async () => {
    const { url, logged } = await start({})
    const port = Number(new URL(url).port)
    for (const bytes of [
      'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
      '\u0016\u0003\u0001\u0002',
      'x\n\n',
    ]) {
      const socket = connectPlain(port, '127.0.0.1')
      socket.on('error', () => {}).resume()
      socket.end(bytes)
      await new Promise((resolve) => socket.on('close', resolve))
    }
    expect(await ask(`${url}/healthz`, trusting())).toMatchObject({ status: 200 })
    expect(logged().filter(({ level }) => level === 'error')).toEqual([])
  })

  test('a stop does not wait for those who never finish the handshake, nor for the silent', async () => {
    const { url, stop } = await start({})
    const port = Number(new URL(url).port)
    const half = connectPlain(port, '127.0.0.1').on('error', () => {})
    const silent = connect({ port, host: '127.0.0.1', ...trusting() }).on('error', () => {})
    onTestFinished(() => void half.destroy())
    await new Promise((resolve) => silent.once('secureConnect', resolve))
    const started = performance.now()
    await stop()
    expect(performance.now() - started).toBeLessThan(5000)
    await until('it is closed', 2000, async () => silent.destroyed)
  })
})

describe('mutual TLS', () => {
  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    '%s: only known clients are heard',
    async (version) => {
      const { url } = await start({ ca: ours.ca })
      const options = { ...trusting(), maxVersion: version }
      const wrong = showing(stranger.issue('proxy'))
      expect((await ask(`${url}/healthz`, options)).error).toBeDefined()
      expect((await ask(`${url}/healthz`, { ...options, ...wrong })).error).toBeDefined()
      const right = { ...options, ...showing(caller) }
      expect(await ask(`${url}/healthz`, right)).toMatchObject({ status: 200 })
    },
  )

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    '%s: when it is optional, none is as good as a known one, and a wrong one is refused',
    async (version) => {
      const { url } = await start({ ca: ours.ca, clients: 'optional' })
      const options = { ...trusting(), maxVersion: version }
      const wrong = showing(stranger.issue('proxy'))
      expect(await ask(`${url}/healthz`, options)).toMatchObject({ status: 200 })
      expect((await ask(`${url}/healthz`, { ...options, ...wrong })).error).toBeDefined()
      const right = { ...options, ...showing(caller) }
      expect(await ask(`${url}/healthz`, right)).toMatchObject({ status: 200 })
      const figures = await bodyOf(`${url}/metrics`, options)
      expect(figures).toContain('sluice_tls_connections_total{listener="http",client="failed"} 1')
      expect(figures).toContain('sluice_tls_connections_total{listener="http",client="verified"} 1')
    },
  )

  test('a session cannot be taken up again to get past the check', async () => {
    const { url } = await start({ ca: ours.ca, clients: 'optional' })
    const own = showing(stranger.issue('proxy'))
    const wrong = { ...trusting(), ...own }
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', ...wrong })
    const sessions: Buffer[] = []
    socket.on('session', (it) => sessions.push(it)).on('error', () => {})
    socket.on('secureConnect', () => sessions.push(socket.getSession()!))
    await new Promise((resolve) => socket.resume().on('close', resolve))
    expect(sessions.length).toBeGreaterThan(0)
    for (const session of sessions)
      expect((await ask(`${url}/healthz`, { ...wrong, session })).error).toBeDefined()
  })

  test('a whole request sent together with the last words of the handshake is not heard', async () => {
    const { url, logged } = await start({ ca: ours.ca, clients: 'optional' })
    const wrong = { ...trusting(), ...showing(stranger.issue('proxy')) }
    const socket: TLSSocket = connect({
      port: Number(new URL(url).port),
      host: '127.0.0.1',
      ...wrong,
    })
    socket.on('error', () => {})
    let heard = ''
    socket.on('data', (data: Buffer) => (heard += data.toString()))
    const body = JSON.stringify({ policy: 'api', attributes: { user: 'ann' } })
    socket.write(
      `POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await new Promise((resolve) => socket.on('close', resolve))
    expect(heard).toBe('')
    const figures = await bodyOf(`${url}/metrics`, trusting())
    expect(figures).toMatch(
      /sluice_decisions_total\{policy="api",rule="per-user",result="allowed"\} 0/,
    )
    expect(logged().filter(({ level }) => level === 'error')).toEqual([])
  })
})

async function bodyOf(url: string, options: object): Promise<string> {
  const { request } = await import('node:https')
  return new Promise((resolve, reject) => {
    const asking = request(url, { agent: false, ...options }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('end', () => resolve(text))
    })
    asking.on('error', reject).end()
  })
}
