// The reverse proxy limits: who goes on, who is refused, and what both are told.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../../../test/servers/ports.ts'
import { until } from '../../../../test/servers/until.ts'
import { behind, five, raw } from './behind.ts'

const hello = (_: IncomingMessage, response: { end(text: string): void }): void =>
  response.end('hello')

describe('the reverse proxy', () => {
  it('hands requests on and tells what is left', async () => {
    const { proxy } = await behind(hello, {}, five)
    const response = await fetch(`${proxy}/a?b=c`)
    expect([response.status, await response.text()]).toEqual([200, 'hello'])
    expect(response.headers.get('ratelimit-policy')).toBe('"five";q=5;w=3600')
    expect(response.headers.get('ratelimit')).toMatch(/^"five";r=4;t=\d+$/)
  })

  it('refuses with 429, a problem and when to come back, and the upstream hears nothing', async () => {
    let heard = 0
    const { proxy, figure } = await behind((_, response) => response.end(String(++heard)), {}, five)
    for (let i = 0; i < 5; i++) expect((await fetch(proxy)).status).toBe(200)
    const refused = await fetch(proxy, { method: 'POST', body: 'x'.repeat(1000) })
    expect(refused.status).toBe(429)
    expect(refused.headers.get('content-type')).toBe('application/problem+json')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.headers.get('ratelimit')).toMatch(/^"five";r=0;t=\d+$/)
    expect(await refused.json()).toMatchObject({ status: 429, 'violated-policies': ['five'] })
    expect(heard).toBe(5)
    expect(await figure('sluice_proxy_requests_total{result="forwarded"}')).toBe(5)
    expect(await figure('sluice_proxy_requests_total{result="refused"}')).toBe(1)
    expect(await figure('sluice_proxy_upstream_duration_seconds_count')).toBe(5)
  })

  it('continues the RateLimit fields that the upstream has begun', async () => {
    const { proxy } = await behind(
      (_, response) => {
        response.setHeader('RateLimit', '"own";r=1;t=2')
        response.setHeader('RateLimit-Policy', '"own";q=3;w=4')
        response.end()
      },
      {},
      five,
    )
    const { headers } = await fetch(proxy)
    expect(headers.get('ratelimit')).toMatch(/^"own";r=1;t=2, "five";r=4/)
    expect(headers.get('ratelimit-policy')).toBe('"own";q=3;w=4, "five";q=5;w=3600')
  })

  it('counts by the attributes of the file: routes, fields, and the named policy', async () => {
    const { proxy } = await behind(
      hello,
      { policy: 'web' },
      {
        policies: [
          { name: 'other', rules: [{ name: 'none', by: [], limit: '1/h' }] },
          {
            name: 'web',
            rules: [
              { name: 'login', when: { route: '/login' }, by: ['route'], limit: '1/h' },
              { name: 'key', when: { apiKey: 'present' }, by: ['apiKey'], limit: '1/h' },
            ],
          },
        ],
        proxy: { routes: ['/login'], attributes: { apiKey: 'X-Api-Key' } },
      },
    )
    const status = async (path: string, headers = {}) =>
      (await fetch(proxy + path, { headers })).status
    expect([await status('/login'), await status('//LOGIN/?x'), await status('/')]).toEqual([
      200, 429, 200,
    ])
    const key = (value: string) => status('/', { 'x-api-key': value })
    expect([await key('a'), await key('b'), await key('a')]).toEqual([200, 200, 429])
  })

  it('has no more requests of one address under way than the setting says', async () => {
    const held: ServerResponse[] = []
    const { proxy, port, figure } = await behind((_, response) => void held.push(response), {
      maxRequestsPerAddress: 2,
    })
    const first = [raw(port, 'GET /1 HTTP/1.1\r\nHost: x\r\n\r\n'), fetch(`${proxy}/2`)] as const
    await expect.poll(() => held.length).toBe(2)
    const beyond = await fetch(proxy)
    expect([beyond.status, beyond.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await figure('sluice_proxy_requests_refused_total')).toBe(1)
    expect(held.length).toBe(2)
    for (const response of held) response.end('ok')
    expect((await first[1]).status).toBe(200)
    await first[0].until('ok')
    const next = fetch(proxy)
    await expect.poll(() => held.length).toBe(3)
    held[2]!.end('ok')
    expect((await next).status).toBe(200)
  })

  it('counts _ in the name of a field as -', async () => {
    const { port } = await behind(
      hello,
      {},
      {
        policies: [{ name: 'api', rules: [{ name: 'keys', by: ['apiKey'], limit: '1/h' }] }],
        proxy: { attributes: { apiKey: 'x-api-key' } },
      },
    )
    const send = (fields: string): Promise<string> =>
      raw(port, `GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${fields}\r\n`).closed
    expect(await send('X-Api-Key: a\r\n')).toMatch(/^HTTP\/1.1 200 /)
    expect(await send('X_Api_Key: a\r\n')).toMatch(/^HTTP\/1.1 429 /)
    expect(await send('X-Api-Key: b\r\nX_Api_Key: c\r\n')).toMatch(/^HTTP\/1.1 400 /)
  })

  it('trap: a second line of the field that names the client; it is refused', async () => {
    const { port } = await behind(
      hello,
      {},
      { ...five, proxy: { attributes: { apiKey: 'x-api-key' } } },
    )
    const twice = 'X-Api-Key: a\r\nX-API-KEY: b\r\n'
    const { until } = raw(port, `GET / HTTP/1.1\r\nHost: x\r\n${twice}\r\n`)
    expect(await until('invalid-field')).toMatch(/^HTTP\/1.1 400 /)
    const away = 'Connection: x-api-key\r\nX-Api-Key: a\r\n'
    const other = raw(port, `GET / HTTP/1.1\r\nHost: x\r\n${away}\r\n`)
    expect(await other.until('invalid-field')).toMatch(/^HTTP\/1.1 400 /)
  })

  it('holds a request for the delay of a leaky bucket, and lets go when the client does', async () => {
    let heard = 0
    const { proxy, port, figure } = await behind(
      (_, response) => response.end(String(++heard)),
      {},
      {
        policies: [
          {
            name: 'api',
            rules: [
              {
                name: 'paced',
                by: ['ip'],
                limit: { algorithm: 'leaky-bucket', quota: 5, window: '1s', burst: 10 },
              },
            ],
          },
        ],
      },
    )
    const start = performance.now()
    await fetch(proxy)
    await (await fetch(proxy)).text()
    expect(performance.now() - start).toBeGreaterThan(150)
    expect(heard).toBe(2)
    const gone = raw(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await until(
      'it is held',
      10_000,
      async () =>
        (await figure('sluice_decisions_total{policy="api",rule="paced",result="allowed"}')) === 3,
    )
    gone.socket.destroy()
    await gone.closed
    await (await fetch(proxy)).text()
    expect(heard).toBe(3)
    expect(await figure('sluice_proxy_requests_total{result="abandoned"}')).toBe(1)
  })

  it('answers 503 when no decision is possible and the rule is closed; an open rule lets requests on', async () => {
    let heard = 0
    const withoutStore = async (onStoreFailure: string) => {
      const rules = [{ name: 'five', by: ['ip'], limit: '5/h', onStoreFailure }]
      const store = `redis://127.0.0.1:${await freePort()}`
      const file = { policies: [{ name: 'api', rules }], store }
      const { proxy } = await behind((_, response) => response.end(String(++heard)), {}, file)
      return fetch(proxy)
    }
    const closed = await withoutStore('closed')
    expect([closed.status, closed.headers.get('content-type')]).toEqual([
      503,
      'application/problem+json',
    ])
    expect(Number(closed.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(heard).toBe(0)
    expect((await withoutStore('open')).status).toBe(200)
    expect(heard).toBe(1)
  })

  it('answers 503 when its policy is gone from the file, and goes on when it is back', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-proxy-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'sluice.json')
    const write = (policy: string) =>
      writeFileSync(file, JSON.stringify({ policies: [{ ...five.policies[0], name: policy }] }))
    write('api')
    const source = { file, digest: '', watch: false as const }
    const { proxy, reload } = await behind(hello, { policy: 'api' }, five, { source })
    expect((await fetch(proxy)).status).toBe(200)
    write('other')
    expect(await reload()).toBe('applied')
    const gone = await fetch(proxy)
    expect([gone.status, await gone.json()]).toMatchObject([503, { code: 'unknown-policy' }])
    write('api')
    await reload()
    expect((await fetch(proxy)).status).toBe(200)
  })
})
