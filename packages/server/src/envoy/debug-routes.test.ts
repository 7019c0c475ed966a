// The paths of Envoy's own service, over real sockets.
import { fileURLToPath } from 'node:url'
import { request } from 'undici'
import { expect, test } from 'vitest'
import { running } from '../../test/running.ts'

const files = [fileURLToPath(new URL('../../test/envoy/ratelimit', import.meta.url))]
const policies = [{ name: 'api', rules: [{ name: 'all', by: [], limit: '100/h' }] }]
const file = { policies, listeners: { grpc: { port: 0 } }, envoy: { files } }
const body = {
  domain: 'shop',
  descriptors: [{ entries: [{ key: 'remote_address', value: '10.0.0.1' }] }],
}

test('GET /healthcheck is OK while the service serves', async () => {
  const { url } = await running(file)
  const response = await fetch(`${url}/healthcheck`)
  expect([response.status, await response.text()]).toEqual([200, 'OK'])
})

test('POST /json decides like the gRPC method: 200, then 429 with Retry-After', async () => {
  const { post, url } = await running(file)
  const first = await post('/json', { ...body, hitsAddend: 5 })
  expect(first).toMatchObject({
    status: 200,
    body: {
      overallCode: 'OK',
      statuses: [
        {
          code: 'OK',
          currentLimit: { requestsPerUnit: 5, unit: 'MINUTE' },
          limitRemaining: 0,
          durationUntilReset: expect.stringMatching(/^\d+s$/) as string,
        },
      ],
    },
  })
  const refused = await fetch(`${url}/json`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await refused.json()).toMatchObject({ overallCode: 'OVER_LIMIT' })
})

test.each<[string, Record<string, string>, number]>([
  ['the type that curl sends', { 'content-type': 'application/x-www-form-urlencoded' }, 200],
  ['text', { 'content-type': 'text/plain' }, 200],
  ['JSON from a page', { 'content-type': 'application/json', origin: 'https://a.example' }, 200],
  ['text from a page', { 'content-type': 'text/plain', origin: 'https://a.example' }, 415],
  [
    'text from a page without origin',
    { 'content-type': 'text/plain', 'sec-fetch-site': 'none' },
    415,
  ],
])('POST /json with %s is answered', async (_, headers, status) => {
  const { url } = await running(file)
  const response = await request(`${url}/json`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  await response.body.dump()
  expect(response.statusCode).toBe(status)
})

test.each([
  ['no object', []],
  ['no descriptors', { domain: 'shop', descriptors: [] }],
  ['no domain', { ...body, domain: '' }],
  ['an entry without a key', { ...body, descriptors: [{ entries: [{ value: 'x' }] }] }],
  [
    'too many descriptors',
    { ...body, descriptors: Array.from({ length: 129 }, () => body.descriptors[0]) },
  ],
  ['wrong hits', { ...body, hitsAddend: -1 }],
])('POST /json with %s is 400 and counts nothing', async (_, wrong) => {
  const { post } = await running(file)
  expect((await post('/json', wrong)).status).toBe(400)
})

test('GET /rlconfig lists the limits of the files', async () => {
  const { url } = await running(file)
  const text = await (await fetch(`${url}/rlconfig`)).text()
  expect(text).toContain(
    'shop.remote_address: unit=MINUTE requests_per_unit=5, shadow_mode: false\n',
  )
})

test('a service without a gRPC listener has none of them', async () => {
  const { url } = await running({ policies })
  for (const path of ['/healthcheck', '/rlconfig'])
    expect((await fetch(`${url}${path}`)).status).toBe(404)
})
