// The HTTP API as its callers see it, over real sockets.
import { createLimiter, parsePolicy } from 'sluice'
import { describe, expect, it } from 'vitest'
import { running, sample } from '../../test/running.ts'
import { LimiterRegistry } from '../limiters/registry.ts'
import { answerBatch } from './batch.ts'
import { LIMITER_OPERATIONS } from './operations.ts'

describe('POST /v1/check', () => {
  it('answers as the library does', async () => {
    const { post } = await running(sample)
    const limiter = createLimiter({ policy: sample.policies[0] as never })
    const asked = { user: 'ann', plan: null, beta: true }
    const { status, body } = await post('/v1/check', { attributes: asked, cost: 2 })
    const expected = JSON.parse(JSON.stringify(limiter.check(asked, 2))) as object
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(Object.keys(expected))
    expect(body).toMatchObject({
      allowed: true,
      reason: 'within-limit',
      rule: 'per-user',
      limit: { algorithm: 'token-bucket', quota: 5, window: 60_000, burst: 5 },
      remaining: 3,
      retryAfter: 0,
      degraded: false,
      outcomes: [{ rule: 'per-user', cost: 2, allowed: true }],
      skipped: [],
    })
    limiter.close()
  })

  it('refuses with 200 as well, and says how long to wait', async () => {
    const { post } = await running(sample)
    const ask = () => post('/v1/check', { key: 'a', cost: 3 })
    expect((await ask()).body.allowed).toBe(true)
    const { status, body } = await ask()
    expect(status).toBe(200)
    expect(body).toMatchObject({ allowed: false, reason: 'over-limit', rule: 'per-key' })
    expect(body.retryAfter).toBeGreaterThan(0)
    expect(body.retryAfter).toBeLessThanOrEqual(60_000)
  })

  it('says null for what JSON has no number for', async () => {
    const { post } = await running(sample)
    const { body } = await post('/v1/check', { attributes: { ip: '192.0.2.1' } })
    expect(body).toMatchObject({ allowed: true, reason: 'no-rule', rule: null, remaining: null })
    const never = await post('/v1/check', { key: 'a', cost: 50 })
    expect(never.body).toMatchObject({ allowed: false, retryAfter: null })
  })

  it('takes the name of a policy, which it needs when there are several', async () => {
    const other = { name: 'other', rules: [{ name: 'all', by: [], limit: '1/h' }] }
    const { post } = await running({ policies: [...sample.policies, other] })
    const named = await post('/v1/check', { policy: 'other', attributes: {} })
    expect(named.body.rule).toBe('all')
    expect(await post('/v1/check', { attributes: {} })).toMatchObject({
      status: 400,
      body: { field: 'policy', detail: 'policy is missing; accepted: api, other' },
    })
    expect(await post('/v1/check', { policy: 'toString', attributes: {} })).toMatchObject({
      status: 404,
      body: { code: 'unknown-policy', field: 'policy' },
    })
  })
})

describe('pools', () => {
  const rule = {
    name: 'api',
    by: ['user'],
    limit: '1/h',
    pools: [{ name: 'credits', limit: '2/day' }],
  }
  const config = { policies: [{ name: 'paid', rules: [rule] }] }
  const ask = { attributes: { user: 'ann' } }

  it('pay when the limit has no room, and are refunded by name', async () => {
    const { post } = await running(config)
    expect((await post('/v1/check', ask)).body.pools).toBeUndefined()
    const { body } = await post('/v1/check', { ...ask, cost: 1 })
    expect(body).toMatchObject({
      allowed: true,
      pools: { api: 'credits' },
      outcomes: [{ rule: 'api', pool: 'credits', limit: { quota: 2 }, remaining: 1 }],
    })
    await post('/v1/refund', { ...ask, takenAt: body.at, pools: body.pools })
    expect((await post('/v1/peek', { ...ask, cost: 2 })).body).toMatchObject({ allowed: true })
    const batch = await post('/v1/check', { checks: [{ ...ask, cost: 2 }, ask] })
    expect(batch.body.decisions).toMatchObject([
      { allowed: true, pools: { api: 'credits' } },
      { allowed: false, reason: 'over-limit' },
    ])
  })

  it.each([1, 'credits', ['credits'], { api: 1 }, null])(
    'of a refund that are %j are a mistake',
    async (pools) => {
      const { post } = await running(config)
      expect(await post('/v1/refund', { ...ask, pools })).toMatchObject({
        status: 400,
        body: { field: 'pools' },
      })
    },
  )

  it('that the policy has not are a mistake', async () => {
    const { post } = await running(config)
    expect(await post('/v1/refund', { ...ask, pools: { api: 'cash' } })).toMatchObject({
      status: 400,
      body: { code: 'invalid-option', field: 'pools' },
    })
    expect(await post('/v1/refund', { ...ask, takenAt: 0.5 })).toMatchObject({
      status: 400,
      body: { code: 'invalid-option', field: 'takenAt' },
    })
  })
})

describe('a batch', () => {
  it('is answered in order, entry by entry', async () => {
    const { post } = await running(sample)
    const { status, body } = await post('/v1/check', {
      checks: [
        { key: 'a', cost: 3 },
        { key: 'a' },
        { policy: 'none', key: 'a' },
        { key: 'b', cost: -1 },
        5,
        { attributes: { user: 'ann', units: 2 } },
      ],
    })
    expect(status).toBe(200)
    expect(body.decisions).toMatchObject([
      { allowed: true, rule: 'per-key' },
      { allowed: false, rule: 'per-key' },
      { error: { status: 404, code: 'unknown-policy' } },
      { error: { status: 400, code: 'invalid-cost', field: 'cost' } },
      { error: { status: 400, code: 'invalid-body' } },
      { allowed: true, rule: 'per-user', remaining: 3 },
    ])
  })

  it('may be empty, and may have a thousand entries but not one more', async () => {
    const { post } = await running(sample)
    expect((await post('/v1/check', { checks: [] })).body).toEqual({ decisions: [] })
    const checks = Array.from({ length: 1000 }, (_, i) => ({ key: `k${i}` }))
    expect((await post('/v1/check', { checks })).body.decisions).toHaveLength(1000)
    const more = await post('/v1/check', { checks: [...checks, { key: 'x' }] })
    expect(more).toMatchObject({ status: 400, body: { field: 'checks' } })
    // Nothing of a batch that is refused as a whole was counted.
    expect((await post('/v1/peek', { key: 'k0' })).body.remaining).toBe(2)
  })
})

describe('a batch over a policy of many rules', () => {
  const rules = Array.from({ length: 50 }, (_, i) => ({ name: `r${i}`, by: ['key'], limit: '9/h' }))
  const wide = { policies: [{ name: 'wide', rules }] }
  const checks = (count: number) => Array.from({ length: count }, (_, i) => ({ key: `k${i}` }))

  it('is bounded by entries times rules, and nothing of a larger one is counted', async () => {
    const { post } = await running(wide)
    const refused = await post('/v1/check', { checks: checks(401) })
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid-body', field: 'checks' } })
    expect((await post('/v1/peek', { key: 'k0' })).body.remaining).toBe(9)
    expect((await post('/v1/check', { checks: checks(400) })).body.decisions).toHaveLength(400)
  })

  it('is bounded in the same way when its entries name reservations', async () => {
    const holding = rules.map((rule) => ({ ...rule, hold: '60s' }))
    const tight = { name: 'tight', rules: [{ name: 'one', by: ['key'], limit: '9/h' }] }
    const { post } = await running({ policies: [{ name: 'wide', rules: holding }, tight] })
    const { body } = await post('/v1/reserve', { policy: 'wide', key: 'k', estimate: 1 })
    const { id } = body as unknown as { id: string }
    const settle = (count: number) =>
      post('/v1/settle', { checks: Array.from({ length: count }, () => ({ id, actual: 1 })) })
    expect(await settle(401)).toMatchObject({ status: 400, body: { field: 'checks' } })
    expect((await settle(2)).body.decisions).toHaveLength(2)
  })

  it('is answered in slices that let other work in between', async () => {
    const limiters = new LimiterRegistry(
      wide.policies.map((policy) => parsePolicy(policy)),
      (policy) => createLimiter({ policy }),
    )
    const { check } = LIMITER_OPERATIONS
    let turns = 0
    const turn = (): void => {
      turns++
      next = setImmediate(turn)
    }
    let next = setImmediate(turn)
    const text = await answerBatch(check, limiters.current, { checks: checks(100) }, () => {})
    clearImmediate(next)
    expect((JSON.parse(text) as { decisions: unknown[] }).decisions).toHaveLength(100)
    expect(turns).toBeGreaterThanOrEqual(15)
    await limiters.close()
  })

  it('has outcomes only when it asks for them', async () => {
    const { post } = await running(wide)
    const brief = await post('/v1/check', { checks: checks(2) })
    expect(brief.body.decisions[0]).toMatchObject({ allowed: true, rule: 'r0', remaining: 8 })
    expect(brief.body.decisions[0]).not.toHaveProperty('outcomes')
    const full = await post('/v1/check', { checks: checks(2), outcomes: true })
    expect((full.body.decisions[0] as { outcomes: unknown[] }).outcomes).toHaveLength(50)
    const wrong = await post('/v1/check', { checks: [], outcomes: 1 })
    expect(wrong).toMatchObject({ status: 400, body: { field: 'outcomes' } })
  })
})

describe('the other operations', () => {
  it('peek looks and charges nothing', async () => {
    const { post } = await running(sample)
    for (let i = 0; i < 3; i++)
      expect((await post('/v1/peek', { key: 'a', cost: 3 })).body).toMatchObject({ allowed: true })
    expect((await post('/v1/peek', { key: 'a', cost: 4 })).body.allowed).toBe(false)
  })

  it('give hands back, and reset forgets', async () => {
    const { post } = await running(sample)
    const { body } = await post('/v1/check', { key: 'a', cost: 3 })
    expect(await post('/v1/refund', { key: 'a', cost: 2, takenAt: body.at })).toEqual({
      status: 200,
      body: {},
    })
    expect((await post('/v1/peek', { key: 'a' })).body.remaining).toBe(2)
    expect(await post('/v1/reset', { key: 'a' })).toEqual({ status: 200, body: {} })
    expect((await post('/v1/peek', { key: 'a' })).body.remaining).toBe(3)
    expect((await post('/v1/refund', { checks: [{ key: 'a' }, {}] })).body.decisions).toMatchObject(
      [{}, { error: { status: 400, field: 'attributes' } }],
    )
  })
})

describe('a wrong request learns what is wrong', () => {
  it.each([
    ['/v1/check', '{', 400, 'invalid-body', undefined],
    ['/v1/check', '', 400, 'invalid-body', undefined],
    ['/v1/check', '[]', 400, 'invalid-body', undefined],
    ['/v1/check', 'null', 400, 'invalid-body', undefined],
    ['/v1/check', '{}', 400, 'invalid-body', 'attributes'],
    ['/v1/check', '{"key":5}', 400, 'invalid-body', 'key'],
    ['/v1/check', '{"key":""}', 400, 'invalid-attributes', 'attributes'],
    ['/v1/check', '{"key":"a","attributes":{}}', 400, 'invalid-body', 'key'],
    ['/v1/check', '{"attributes":[]}', 400, 'invalid-body', 'attributes'],
    ['/v1/check', '{"attributes":{"user":{}}}', 400, 'invalid-attributes', 'attributes'],
    ['/v1/check', '{"attributes":{"user":1e999}}', 400, 'invalid-attributes', 'attributes'],
    ['/v1/check', '{"attributes":{"user":"a","units":-1}}', 400, 'invalid-cost', 'cost'],
    ['/v1/check', '{"key":"a","cost":1.5}', 400, 'invalid-cost', 'cost'],
    ['/v1/check', '{"key":"a","cost":"1"}', 400, 'invalid-body', 'cost'],
    ['/v1/check', '{"key":"a","costs":1}', 400, 'invalid-body', 'costs'],
    ['/v1/check', '{"key":"a","takenAt":1}', 400, 'invalid-body', 'takenAt'],
    ['/v1/check', '{"key":"a","policy":1}', 400, 'invalid-body', 'policy'],
    ['/v1/check', '{"__proto__":{"key":"a"}}', 400, 'invalid-body', '__proto__'],
    ['/v1/check', '{"checks":{}}', 400, 'invalid-body', 'checks'],
    ['/v1/check', '{"checks":[],"policy":"api"}', 400, 'invalid-body', 'policy'],
    ['/v1/refund', '{"key":"a","takenAt":"x"}', 400, 'invalid-body', 'takenAt'],
    ['/v1/refund', '{"key":"a","takenAt":0.5}', 400, 'invalid-option', 'takenAt'],
    ['/v1/checks', '{"key":"a"}', 404, 'unknown-route', undefined],
    ['/metrics', '{}', 405, 'method-not-allowed', undefined],
  ])('%s %s → %i %s', async (path, text, status, code, field) => {
    const { url } = await running(sample)
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: text,
    })
    expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    const problem = (await response.json()) as Record<string, unknown>
    expect(problem).toMatchObject({ type: 'about:blank', status, code })
    expect(problem['field']).toBe(field)
    expect(problem['title']).toBe(response.statusText)
    expect(problem['detail']).toEqual(expect.any(String))
  })

  it.each([
    ['no type', {}, 415],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['a text', { 'content-type': 'text/plain' }, 415],
    ['another JSON', { 'content-type': 'application/jsonx' }, 415],
    ['packed', { 'content-type': 'application/json', 'content-encoding': 'gzip' }, 415],
  ])('415: %s', async (_, headers: Record<string, string>, status) => {
    const { url } = await running(sample)
    const body = new Blob(['{"key":"a"}'])
    const response = await fetch(`${url}/v1/check`, { method: 'POST', headers, body })
    expect(response.status).toBe(status)
  })

  it('413 for a body that is too large, announced or not', async () => {
    const { url } = await running({ ...sample, listeners: { http: { port: 0, maxBody: 1024 } } })
    const headers = { 'content-type': 'application/json' }
    const text = JSON.stringify({ key: 'x'.repeat(2000) })
    const announced = await fetch(`${url}/v1/check`, { method: 'POST', headers, body: text })
    expect(announced.status).toBe(413)
    const stream = new Blob([text]).stream()
    const init = { method: 'POST', headers, body: stream, duplex: 'half' } as RequestInit
    expect((await fetch(`${url}/v1/check`, init)).status).toBe(413)
  })

  it('400 for bytes that are not UTF-8, which would otherwise share a key', async () => {
    const { url } = await running(sample)
    const body = Buffer.concat([Buffer.from('{"key":"'), Buffer.from([0xff]), Buffer.from('"}')])
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${url}/v1/check`, { method: 'POST', headers, body })
    expect(response.status).toBe(400)
  })

  it('405 with the methods that are allowed', async () => {
    const { url } = await running(sample)
    const response = await fetch(`${url}/v1/check`)
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
  })
})

describe('what can be read', () => {
  it('policies, as they are in force', async () => {
    const { get } = await running(sample)
    const { status, body } = await get('/v1/policies')
    expect(status).toBe(200)
    expect(body.generation).toBe(1)
    expect(body.policies[0]).toMatchObject({ name: 'api', rules: [{ limit: { quota: 5 } }, {}] })
  })

  it('health and readiness, also by HEAD and with a query', async () => {
    const { get, url } = await running(sample)
    expect(await get('/healthz')).toEqual({ status: 200, body: { status: 'ok' } })
    expect(await get('/readyz?probe=1')).toEqual({
      status: 200,
      body: { status: 'serving', generation: 1 },
    })
    const head = await fetch(`${url}/healthz`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })
})

it('no answer may be kept by a cache', async () => {
  const { url } = await running(sample)
  for (const path of ['/healthz', '/v1/check', '/nothing'])
    expect((await fetch(url + path)).headers.get('cache-control')).toBe('no-store')
})
