// spec/openapi.json against the server: every response that it describes is produced and is as described.
import { describe, expect, it } from 'vitest'
import { startRedis } from '../../../test/servers/redis-server.ts'
import { METHODS } from '../src/http/routes.ts'
import { PROXIES } from '../src/auth/proxies.ts'
import { differences, spec } from './described.ts'
import { running, type Running } from './running.ts'

const key = { key: 'a' }
const policies = [
  {
    name: 'api',
    rules: [
      { name: 'per-key', by: ['key'], limit: '2/h' },
      {
        name: 'per-user',
        by: ['user'],
        limit: '9/h',
        tiers: { attribute: 'plan', limits: { staff: 'unlimited' } },
      },
      {
        name: 'tried',
        by: ['key'],
        limit: { quota: 1, window: '1h', algorithm: 'leaky-bucket' },
        shadow: true,
      },
    ],
  },
]

type ProduceResponse = (service: Running, path: string) => Promise<Response | Response[]>

const budget = {
  name: 'budget',
  rules: [
    { name: 'tokens', by: ['key'], limit: '9/h', hold: '60s' },
    { name: 'at-once', by: ['key'], concurrency: 2, hold: '60s' },
  ],
}

/** Requests with an id of a reservation, and with one that is unknown. */
async function byId(service: Running, path: string, more: object): Promise<Response[]> {
  const reserve = async (): Promise<string> => {
    const response = await post(service, '/v1/reserve', { ...key, policy: 'budget', estimate: 2 })
    return ((await response.json()) as { id: string }).id
  }
  const first = await reserve()
  return [
    await post(service, path, { id: first, ...more }),
    await post(service, path, {
      checks: [
        { id: await reserve(), ...more },
        { id: '?', ...more },
      ],
    }),
  ]
}

/** How the responses of some paths are brought about that need another body. */
const ofPath: Record<string, ProduceResponse> = {
  '/v1/reserve 200': async (service, path) => [
    await post(service, path, { ...key, policy: 'budget' }),
    await post(service, path, { ...key, policy: 'budget', estimate: 2 }),
    await post(service, path, { ...key, policy: 'budget', estimate: 2 }),
    await post(service, path, { checks: [{ ...key, policy: 'budget' }, key, {}] }),
  ],
  '/v1/enter 200': async (service, path) => [
    await post(service, path, { ...key, policy: 'budget' }),
    await post(service, path, { checks: [{ ...key, policy: 'budget' }, key, {}] }),
    await post(service, path, { ...key, policy: 'budget' }),
  ],
  '/v1/settle 200': (service, path) => byId(service, path, { actual: { input: 3, output: 1 } }),
  '/v1/extend 200': (service, path) => byId(service, path, {}),
  '/v1/cancel 200': (service, path) => byId(service, path, {}),
  '/v1/leave 200': (service, path) => byId(service, path, {}),
  '/v1/settle 404': (service, path) => post(service, path, { id: 'none', actual: 1 }),
  '/v1/extend 404': (service, path) => post(service, path, { id: 'none' }),
  '/v1/cancel 404': (service, path) => post(service, path, { id: 'none' }),
  '/v1/leave 404': (service, path) => post(service, path, { id: 'none' }),
}

/** How each response is brought about, by path and status. */
const requests: Record<string, ProduceResponse> = {
  'post 200': async (service, path) => [
    await post(service, path, key),
    await post(service, path, { ...key, cost: 0 }),
    await post(service, path, { ...key, cost: 5 }),
    await post(service, path, { attributes: { user: 'ann', plan: 'staff' } }),
    await post(service, path, { attributes: {} }),
    await post(service, path, {
      checks: [key, {}, { ...key, policy: 'x' }, { ...key, cost: -1 }],
    }),
  ],
  'post 400': (service, path) => post(service, path, { nonsense: 1 }),
  'post 404': (service, path) => post(service, path, { ...key, policy: 'none' }),
  'post 405': ({ url }, path) => fetch(url + path),
  'post 413': (service, path) => post(service, path, { key: 'x'.repeat(300_000) }),
  'post 415': ({ url }, path) => fetch(url + path, { method: 'POST', body: '{}' }),
  'get 200': ({ url }, path) => fetch(url + path),
  'get 405': (service, path) => post(service, path, {}),
  'get 503': async (service, path) => {
    const stopping = service.stop(300)
    const response = await fetch(service.url + path)
    const copy = response.clone()
    await response.text()
    await stopping
    return copy
  },
}

function post({ url }: Running, path: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
}

const own = Object.entries(spec.paths).filter(([path]) => !path.startsWith('/v1/auth/'))
const responses = own.flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, operation]) =>
    Object.keys(operation.responses).map((status) => [method, path, status] as const),
  ),
)

describe('the description', () => {
  it('has every route of the server, and no other', () => {
    const described = Object.entries(spec.paths).map(([path, methods]) => [
      path,
      Object.keys(methods),
    ])
    const served = Object.entries(METHODS).map(([path, methods]) => [
      path,
      [methods[0]!.toLowerCase()],
    ])
    const asked = Object.keys(PROXIES).map((name) => [`/v1/auth/${name}`, ['get']])
    expect(described).toEqual([...served, ...asked])
  })

  const produced = responses.filter(([method, , status]) => `${method} ${status}` !== 'post 503')
  it.each(produced)('%s %s: %s is produced as described', async (method, path, status) => {
    const isOfBudget = /reserve|settle|extend|cancel|enter|leave/.test(path)
    const service = await running({ policies: isOfBudget ? [...policies, budget] : policies })
    const request = ofPath[`${path} ${status}`] ?? requests[`${method} ${status}`]!
    const answers = await request(service, path)
    for (const response of [answers].flat())
      expect(await differences(response, path, method, status)).toBeUndefined()
  })
})

describe('without a store that answers', () => {
  it('decisions are degraded as described', async () => {
    const service = await running({ policies, store: 'redis://127.0.0.1:1' })
    for (const path of ['/v1/check', '/v1/peek'])
      expect(await differences(await post(service, path, key), path, 'post', '200')).toBeUndefined()
  })

  it('what nothing stands in for is 503 as described, and says when to come back', async () => {
    const redis = await startRedis()
    const service = await running({ policies, store: redis.url })
    await redis.stop()
    const response = await post(service, '/v1/reset', key)
    expect(response.headers.get('retry-after')).toBe('1')
    expect(await differences(response, '/v1/reset', 'post', '503')).toBeUndefined()
  })
})
