import { describe, expect, it } from 'vitest'
import type { Condition, PolicyInCode } from '../policy/policy.ts'
import { createLimiter, type LimiterSettings } from '../limiter/create-limiter.ts'
import { rateLimit } from './fetch.ts'
import type { HttpOptions } from './options.ts'
import type { HttpWarning } from './warnings.ts'

const byUser: PolicyInCode = {
  name: 'api',
  rules: [{ name: 'per-user', by: ['user'], limit: '100/min' }],
}

interface Shop {
  /** The status of a request. */
  readonly answer: (request?: RequestInit) => Promise<number>
  readonly warnings: readonly HttpWarning[]
}

function shopOf(
  limiter: Parameters<typeof rateLimit>[0],
  options: Partial<HttpOptions<Request>> = {},
): Shop {
  const warnings: HttpWarning[] = []
  const handle = rateLimit(limiter as never, {
    user: () => 'ann',
    address: () => '203.0.113.7',
    routes: ['/orders/{id}'],
    onWarning: (warning: HttpWarning) => void warnings.push(warning),
    ...options,
  })(() => new Response('ok'))
  const answer = async (init?: RequestInit): Promise<number> =>
    (await handle(new Request('http://shop.test/orders/7', init))).status
  return { answer, warnings }
}

describe('a block holds behind an adapter', () => {
  it.each<[string, Condition | string]>([
    ['the address', { ip: '203.0.113.7' }],
    ['a network of addresses', { ip: '203.0.113.0/24' }],
    ['the method', { method: 'GET' }],
    ['the route', { route: '/orders/:id' }],
    ['an identity with an option', { tenant: 'acme' }],
    ['the key of an adapter', 'user:ann'],
    ['what a rule names', { user: 'ann' }],
  ])('by %s, whether or not a rule names it', async (_, who) => {
    const limiter = createLimiter({ policy: byUser })
    const { answer, warnings } = shopOf(limiter, { tenant: () => 'acme' })
    expect(await answer()).toBe(200)
    const block = limiter.block(who, '1h')
    expect(await answer()).toBe(429)
    block.remove()
    expect(await answer()).toBe(200)
    expect(warnings).toEqual([])
  })

  it.each([{ ip: '203.0.113.7' }, { key: '203.0.113.7' }, { method: 'GET' }])(
    'of a bare limit, by %j',
    async (who) => {
      const limiter = createLimiter({ limit: '100/min' })
      const { answer } = shopOf(limiter, { user: () => undefined })
      limiter.block(who as Condition, '1h')
      expect(await answer()).toBe(429)
      expect(await answer({ method: 'POST' })).toBe('method' in who ? 200 : 429)
    },
  )

  it('of a bare limit without an address, which stays refused', async () => {
    const limiter = createLimiter({ limit: '100/min' })
    const options = { user: () => undefined, address: () => undefined }
    const { answer } = shopOf(limiter, { ...options, unknownAddress: 'refuse' })
    limiter.block({ ip: '203.0.113.7' }, '1h')
    expect(await answer()).toBe(400)
  })

  it('by an identity that comes later', async () => {
    const limiter = createLimiter({ limit: '100/min' })
    const { answer } = shopOf(limiter, { user: async () => 'ann' })
    limiter.block({ user: 'ann', ip: '203.0.113.7' }, '1h')
    expect(await answer()).toBe(429)
  })

  it('without a warning or a refusal where a request has no address', async () => {
    const limiter = createLimiter({ policy: byUser })
    const options = { address: () => undefined, unknownAddress: 'refuse' } as const
    const { answer, warnings } = shopOf(limiter, options)
    limiter.block({ ip: '203.0.113.7' }, '1h')
    expect(await answer()).toBe(200)
    expect(warnings).toEqual([])
  })
})

describe('an override set while a limiter runs', () => {
  it('holds by an attribute that no rule names', async () => {
    const limiter = createLimiter({ policy: byUser })
    const { answer } = shopOf(limiter)
    limiter.override('per-user', { ip: '203.0.113.7' }, '1/min')
    expect([await answer(), await answer()]).toEqual([200, 429])
  })
})

describe('the option blocked', () => {
  it.each<[string, Partial<LimiterSettings>]>([
    ['every attribute', {}],
    ['the attributes that it says it reads', { blockedBy: () => new Set(['ip', 'method']) }],
  ])('sees %s', async (_, settings) => {
    const seen: unknown[] = []
    const limiter = createLimiter({
      policy: byUser,
      blocked: ({ user, ip, method }) => void seen.push([user, ip, method]),
      ...settings,
    })
    expect(await shopOf(limiter).answer()).toBe(200)
    expect(seen).toEqual([['ann', '203.0.113.7', 'GET']])
  })
})

describe('a block that no request can meet', () => {
  it.each<[string, Condition, RegExp]>([
    ['a method in lower case', { method: 'post' }, /a block asks for the method post, .* POST/],
    ['a misspelled attribute', { usr: 'ann' }, /a block needs the attribute usr, .* mean user\?/],
    ['an undeclared route', { route: '/ordrs' }, /a block asks for the route \/ordrs, /],
  ])('is reported: %s', async (_, who, message) => {
    const limiter = createLimiter({ policy: byUser })
    const { answer, warnings } = shopOf(limiter)
    limiter.block(who, '1h')
    expect(await answer()).toBe(200)
    expect(await answer()).toBe(200)
    expect(warnings).toEqual([
      expect.objectContaining({ code: 'control-unmet', message: expect.stringMatching(message) }),
    ])
  })

  it('is reported when it was set before the adapter was made', () => {
    const limiter = createLimiter({ policy: byUser })
    limiter.block({ method: 'post' }, '1h')
    expect(shopOf(limiter).warnings).toMatchObject([{ code: 'control-unmet' }])
  })

  it('is reported for every change', async () => {
    const limiter = createLimiter({ policy: byUser })
    const { answer, warnings } = shopOf(limiter)
    limiter.block({ method: 'post' }, '1h')
    await answer()
    limiter.override('per-user', { method: 'put' }, '1/min')
    await answer()
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^a block asks for the method post/),
      expect.stringMatching(/^an override of rule per-user asks for the method put/),
    ])
  })
})
