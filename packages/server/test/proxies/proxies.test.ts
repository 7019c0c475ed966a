import { parseList } from 'structured-headers'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { front } from './front.ts'

const policies = [
  {
    name: 'api',
    rules: [
      { name: 'address', by: ['ip'], limit: '100/h' },
      { name: 'orders', when: { route: '/orders/{id}' }, by: ['ip', 'route'], limit: '3/h' },
      { name: 'keys', by: ['apiKey'], limit: '2/h' },
    ],
  },
]
const file = { policies, proxy: { routes: ['/orders/{id}'], attributes: { apiKey: 'X-Api-Key' } } }

describe.each(['nginx', 'haproxy', 'caddy'])('behind %s', (proxy) => {
  it('requests pass with fields; refusals are 429 with Retry-After, and never reach the application', async () => {
    const { ask, reached } = await front(proxy, file)
    const statuses = []
    for (let id = 0; id < 4; id++) {
      const { status, headers } = await ask(`/orders/${id}?page=2`)
      statuses.push(status)
      expect(parseList(String(headers['ratelimit'])).length).toBeGreaterThan(0)
      expect(parseList(String(headers['ratelimit-policy'])).length).toBeGreaterThan(0)
    }
    expect(statuses).toEqual([200, 200, 200, 429])
    expect(reached).toEqual(['/orders/0?page=2', '/orders/1?page=2', '/orders/2?page=2'])

    const refused = await ask('/orders/9')
    expect(refused.status).toBe(429)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(1000)
    expect(refused.headers['content-type']).toMatch(/^application\/problem\+json/)
    expect(JSON.parse(refused.body)).toMatchObject({ status: 429, 'violated-policies': ['orders'] })
    expect((await ask('/elsewhere')).status).toBe(200)
  })

  it('trap: fields and addresses that the client writes are not believed', async () => {
    const { ask } = await front(proxy, file)
    for (let i = 0; i < 3; i++) await ask('/orders/1')
    const lies = {
      'x-original-uri': '/elsewhere',
      'x-forwarded-uri': '/elsewhere',
      'x-original-method': 'OPTIONS',
      'x-forwarded-method': 'OPTIONS',
      'x-forwarded-for': '203.0.113.9',
      'x-real-ip': '203.0.113.9',
      forwarded: 'for=203.0.113.9',
    }
    expect((await ask('/orders/1', lies)).status).toBe(429)
    expect((await ask('/orders/1?policy=none', lies)).status).toBe(429)
    expect((await ask('/orders/1', {}, '127.0.0.10')).status).toBe(200)
  })

  it('counts by a field that names a user, wherever the request comes from', async () => {
    const { ask } = await front(proxy, file)
    const key = { 'x-api-key': 'secret' }
    const from = ['127.0.0.11', '127.0.0.12', '127.0.0.13']
    const answers = []
    for (const address of from) answers.push((await ask('/', key, address)).status)
    expect(answers).toEqual([200, 200, 429])
  })
})

describe.each(['nginx', 'haproxy', 'caddy'])('past %s', (proxy) => {
  it('no request gets that names its caller twice', async () => {
    const { ask, reached } = await front(proxy, file)
    const { status } = await ask('/', { 'x-api-key': ['valid', 'junk'] })
    expect(status).toBe(400)
    expect(reached).toEqual([])
  })

  it('no request gets uncounted whose path is longer than the service reads', async () => {
    const { ask, reached } = await front(proxy, file)
    const statuses = []
    for (let i = 0; i < 5; i++) statuses.push((await ask(`/orders/${'a'.repeat(15_900)}`)).status)
    expect(statuses.slice(3).every((status) => status >= 400)).toBe(true)
    expect(reached.length).toBeLessThanOrEqual(3)
  })
})

describe.each(['nginx', 'haproxy', 'caddy'])('past %s', (proxy) => {
  it('no request gets uncounted whose key the service does not accept', async () => {
    const { send, reached } = await front(proxy, file)
    const statuses = []
    for (const key of ['a\x01b', '\x7f', '\xff', 'a\tb', '"'])
      statuses.push(await send('/orders/1', `X-Api-Key: ${key}\r\n`))
    // The rule for the route lets three through, whatever the keys are.
    expect(reached.length).toBe(statuses.filter((status) => status === 200).length)
    expect(reached.length).toBeLessThanOrEqual(3)
  })

  it('no request gets that must wait longer than the proxy does, and it costs nothing', async () => {
    const limit = { algorithm: 'leaky-bucket', quota: 1, window: '30s', burst: 5 }
    const { ask, reached, service } = await front(proxy, {
      policies: [{ name: 'api', rules: [{ name: 'queue', by: ['ip'], limit }] }],
    })
    const answers = []
    for (let i = 0; i < 4; i++) answers.push(await ask('/'))
    expect(answers.map(({ status }) => status)).toEqual([200, 429, 429, 429])
    for (const { headers } of answers.slice(1))
      expect(Number(headers['retry-after'])).toBeGreaterThan(10)
    expect(reached).toEqual(['/'])
    const { body } = await service.post('/v1/peek', { attributes: { ip: '127.0.0.9' } })
    expect(body.remaining).toBe(4)
  })
})

describe.each(['nginx', 'haproxy'])('behind %s, without the service', (proxy) => {
  it('requests go on', async () => {
    const { ask, service } = await front(proxy, file)
    await service.stop()
    expect((await ask('/orders/1')).status).toBe(200)
  })
})

describe.each([
  ['nginx', 200],
  ['haproxy', 200],
  // Caddy has no way to go on without an answer.
  ['caddy', 504],
])('behind %s, with a service that hangs', (proxy, status) => {
  it(`requests are answered with ${status}`, async () => {
    const { ask, service } = await front(proxy, file, 1)
    await service.stop()
    const hung = createServer(() => {})
    hung.listen(Number(new URL(service.url).port), '127.0.0.1')
    await once(hung, 'listening')
    onTestFinished(() => {
      hung.closeAllConnections()
      hung.close()
    })
    expect((await ask('/orders/1')).status).toBe(status)
  })
})
