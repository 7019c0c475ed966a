// Auth requests as a proxy sends them, over real sockets.
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { running } from '../../test/running.ts'
import { PROXIES, type ProxyName } from './proxies.ts'

const names = Object.keys(PROXIES) as ProxyName[]

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Sends fields as they are, in their order; a name may occur twice. */
async function ask(url: string, name: ProxyName, fields: readonly string[]): Promise<Answer> {
  const sent = request(`${url}/v1/auth/${name}`, {
    headers: ['Host', 'x', PROXIES[name].uri, '/', ...fields],
    agent: false,
  })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  let body = ''
  for await (const chunk of response.setEncoding('utf8')) body += String(chunk)
  return { status: response.statusCode ?? 0, headers: response.headers, body }
}

describe.each(names)('the fields that name a caller, for %s', (name) => {
  const file = {
    policies: [{ name: 'api', rules: [{ name: 'keys', by: ['apiKey'], limit: '3/h' }] }],
    proxy: { attributes: { apiKey: 'X-Api-Key' } },
  }

  it.each([
    ['doubled', ['X-Api-Key', 'valid', 'X-Api-Key', 'junk']],
    ['doubled in another spelling', ['X-Api-Key', 'valid', 'X_Api_Key', 'junk']],
    ['doubled without a hyphen', ['x_api_key', 'valid', 'x_api-key', 'junk']],
  ])('are refused when they are %s', async (_, fields) => {
    const { url } = await running(file)
    const { status, headers, body } = await ask(url, name, fields)
    expect(status).toBe(PROXIES[name].refused ?? 400)
    expect(headers['sluice-status']).toBe('400')
    expect(JSON.parse(body)).toMatchObject({ status: 400 })
  })

  it('count the same with _ in the place of -', async () => {
    const { url } = await running(file)
    const spellings = ['X-Api-Key', 'X_Api_Key', 'x_api-key', 'X-API_KEY']
    const statuses = []
    for (const field of spellings)
      statuses.push((await ask(url, name, [field, 'valid'])).headers['sluice-status'])
    expect(statuses).toEqual(['204', '204', '204', '429'])
  })
})

describe.each(names)('the fields that describe a request, for %s', (name) => {
  const { uri, method } = PROXIES[name]
  it.each([
    ['path', [uri, '/login']],
    ['path in another spelling', [uri.replaceAll('-', '_'), '/login']],
    ['method', [method, 'GET', method, 'POST']],
  ])('are refused when there are two: %s', async (_, fields) => {
    const policies = [{ name: 'api', rules: [{ name: 'all', by: [], limit: '1/h' }] }]
    const { url } = await running({ policies })
    expect((await ask(url, name, fields)).headers['sluice-status']).toBe('400')
  })
})

describe.each(names)('preflights, for %s', (name) => {
  const policies = [{ name: 'api', rules: [{ name: 'all', by: [], limit: '1/h' }] }]
  const preflight = [
    PROXIES[name].method,
    'OPTIONS',
    'Origin',
    'http://a.example',
    'Access-Control-Request-Method',
    'POST',
  ]
  const statuses = async (url: string, fields: readonly string[]) => {
    const all = []
    for (let i = 0; i < 3; i++) all.push((await ask(url, name, fields)).headers['sluice-status'])
    return all
  }

  it('count by default', async () => {
    const { url } = await running({ policies })
    expect(await statuses(url, preflight)).toEqual(['204', '429', '429'])
  })

  it('go on uncounted with countPreflights: false', async () => {
    const { url } = await running({ policies, proxy: { countPreflights: false } })
    expect(await statuses(url, preflight)).toEqual(['204', '204', '204'])
  })
})

describe('every answer carries Sluice-Status', () => {
  const file = { policies: [{ name: 'api', rules: [{ name: 'all', by: [], limit: '1/h' }] }] }

  async function raw(url: string, bytes: string): Promise<string> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    let text = ''
    socket.on('error', () => {})
    socket.on('data', (data) => (text += data.toString('latin1')))
    socket.write(Buffer.from(bytes, 'latin1'))
    await new Promise((resolve) => socket.on('close', resolve))
    return text
  }

  it.each([
    [
      'a control character in a field',
      'GET /v1/auth/haproxy HTTP/1.1\r\nHost: x\r\nX: a\x01b\r\n\r\n',
      400,
    ],
    [
      'a URI over 16 kB',
      `GET /v1/auth/haproxy HTTP/1.1\r\nHost: x\r\nX-Original-URI: /${'a'.repeat(17_000)}\r\n\r\n`,
      431,
    ],
    [
      'a missing field',
      'GET /v1/auth/haproxy HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      400,
    ],
    [
      'an unknown policy',
      'GET /v1/auth/haproxy?policy=no HTTP/1.1\r\nHost: x\r\nX-Original-URI: /\r\nConnection: close\r\n\r\n',
      404,
    ],
    ['a wrong path', 'GET /v1/auth/nobody HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 404],
    [
      'a wrong method',
      'PUT /v1/auth/haproxy HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      405,
    ],
  ])('to %s', async (_, bytes, status) => {
    const { url } = await running(file)
    const text = await raw(url, bytes)
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(text).toMatch(new RegExp(`\r\nSluice-Status: ${status}\r\n`, 'i'))
  })

  it('also when the request may go on', async () => {
    const { url } = await running(file)
    expect(await ask(url, 'haproxy', [])).toMatchObject({
      status: 204,
      headers: { 'sluice-status': '204' },
    })
  })
})

describe('the delay of a leaky bucket', () => {
  const file = (window: string, proxy = {}) => ({
    policies: [
      {
        name: 'api',
        rules: [
          {
            name: 'queue',
            by: [],
            limit: { algorithm: 'leaky-bucket', quota: 1, window, burst: 5 },
          },
        ],
      },
    ],
    proxy,
  })

  it.each(names)('beyond what %s waits for is a refusal that costs nothing', async (name) => {
    const { url, post } = await running(file('10s'))
    expect((await ask(url, name, [])).status).toBe(204)
    for (let i = 0; i < 3; i++) {
      const { status, headers, body } = await ask(url, name, [])
      expect(status).toBe(PROXIES[name].refused ?? 429)
      expect(headers['sluice-status']).toBe('429')
      expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(9)
      expect(JSON.parse(body)).toMatchObject({ status: 429 })
    }
    expect((await post('/v1/peek', { attributes: {} })).body.remaining).toBe(4)
  })

  it('of more than 24.8 days does not pass at once', async () => {
    const { url } = await running(file('30d'))
    await ask(url, 'caddy', [])
    expect((await ask(url, 'caddy', [])).status).toBe(429)
  })

  it('is waited out when it is short enough', async () => {
    const { url } = await running(file('1s', { maxDelay: '5s' }))
    await ask(url, 'caddy', [])
    const before = performance.now()
    expect((await ask(url, 'caddy', [])).status).toBe(204)
    expect(performance.now() - before).toBeGreaterThan(100)
  })
})
