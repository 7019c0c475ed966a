// Soft limits through the service: the client, the upstream and the metrics learn which requests are over one.
import { expect, it } from 'vitest'
import { behind } from './behind.ts'

const policies = [
  {
    name: 'api',
    rules: [
      { name: 'fair use', by: ['ip'], limit: '1/h', onExceed: 'mark' },
      { name: 'quiet', by: ['ip'], limit: '1/h', onExceed: 'mark', hidden: true },
    ],
  },
]

it('a marked request is forwarded, and says so to the upstream, the client and the metrics', async () => {
  const { proxy, figure } = await behind(
    ({ headers }, response) => {
      const { 'x-ratelimit-marked': marked = null, x_ratelimit_marked: other = null } = headers
      response.end(JSON.stringify([marked, other]))
    },
    {},
    { policies },
  )
  const seen: unknown[] = []
  for (let i = 0; i < 3; i++) {
    // What a client says of itself is not forwarded.
    const headers = { 'X-RateLimit-Marked': '"forged"', X_RateLimit_Marked: '"forged"' }
    const response = await fetch(proxy, { headers })
    seen.push([response.headers.get('x-ratelimit-marked'), await response.json()])
  }
  const marked = ['"fair use"', ['"fair use"', null]]
  expect(seen).toEqual([[null, [null, null]], marked, marked])
  expect(await figure('sluice_marked_total{policy="api",rule="fair use"}')).toBe(2)
  expect(await figure('sluice_marked_total{policy="api",rule="quiet"}')).toBe(2)
})

it.each(['nginx', 'traefik', 'caddy', 'haproxy'])(
  'a proxy that asks as %s receives the mark',
  async (kind) => {
    const { url } = await behind(() => {}, {}, { policies })
    const headers = {
      'x-original-uri': '/',
      'x-original-method': 'GET',
      'x-forwarded-uri': '/',
      'x-forwarded-method': 'GET',
    }
    const ask = async () =>
      (await fetch(`${url}/v1/auth/${kind}`, { headers })).headers.get('x-ratelimit-marked')
    expect([await ask(), await ask()]).toEqual([null, '"fair use"'])
  },
)
