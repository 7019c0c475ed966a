import { describe, expect, it } from 'vitest'
import { startRedis } from '../../../../test/servers/redis-server.ts'
import { administered, type Admin } from './admin.ts'

const redis = await startRedis()
let prefixes = 0
const stores: [string, () => object][] = [
  ['memory', () => ({})],
  [
    'Redis',
    () => ({ store: { kind: 'redis', url: redis.url, prefix: `a${prefixes++}:`, timeout: 2000 } }),
  ],
]
const ann = { attributes: { user: 'ann' } }
const check = ({ post }: Admin, attributes: object, cost = 1) =>
  post('/v1/check', { attributes, cost })

async function listed({ ask }: Admin, query = ''): Promise<string[]> {
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const more = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const { status, body } = await ask(`keys?${query}${more}`)
    expect(status).toBe(200)
    for (const { rule, key } of body.keys) seen.push(`${rule} ${key}`)
    cursor = body.cursor
  }
  return seen.toSorted((a, b) => (a < b ? -1 : 1))
}

describe.each(stores)('on %s', (_, store) => {
  it('a key is read: what every rule says, in data and in words, and nothing is charged', async () => {
    const admin = await administered(store())
    await check(admin, { user: 'ann' }, 2)
    for (let i = 0; i < 3; i++) {
      const { status, body } = await admin.ask('read', ann)
      expect(status).toBe(200)
      expect(body).toMatchObject({
        policy: 'api',
        decision: { allowed: true, outcomes: [{ rule: 'per-user', remaining: 3 }] },
        block: null,
      })
      expect(body.explained[0]).toMatch(
        /^allowed by per-user: token bucket 5\/h: 3 of 5 units left/,
      )
    }
  })

  it('a rule that depends on other attributes is read apart, by the values of its condition', async () => {
    const rules = [
      { name: 'login', when: { route: ['/login', '/token'] }, by: ['user'], limit: '2/h' },
      { name: 'by-route', when: { route: ['/a', '/b'] }, by: ['user', 'route'], limit: '9/h' },
      { name: 'free', when: { user: 'bob', route: '/login' }, by: ['user'], limit: '1/h' },
      { name: 'per-key', when: { key: 'present' }, by: ['key'], limit: '3/h' },
      { name: 'everyone', by: [], limit: '1000/s' },
    ]
    const admin = await administered({ ...store(), policies: [{ name: 'api', rules }] })
    await check(admin, { user: 'ann', route: '/token' }, 2)
    await check(admin, { user: 'ann', route: '/b' }, 1)
    const { body } = await admin.ask('read', ann)
    expect(body.decision).toMatchObject({ allowed: true, outcomes: [{ rule: 'everyone' }] })
    const { attributes } = ann
    expect(body.conditional).toMatchObject([
      { rule: 'login', needs: { route: ['/login', '/token'] }, attributes, allowed: false },
      { rule: 'by-route', needs: { route: ['/a'] }, allowed: true, outcome: { remaining: 9 } },
      { rule: 'by-route', needs: { route: ['/b'] }, allowed: true, outcome: { remaining: 8 } },
      { rule: 'per-key', needs: { key: [] }, allowed: null, outcome: null },
    ])
    expect(body.explained[1]).toMatch(
      /^only with route \/login or \/token: refused by login: .*0 of 2 units left/,
    )
    const whole = await admin.ask('read', { attributes: { ...attributes, route: '/login' } })
    expect(whole.body.conditional.map(({ rule }: { rule: string }) => rule)).toEqual(['per-key'])
  })

  it('a lockout is shown and lifted, beside a budget of the same policy', async () => {
    const rules = [
      {
        name: 'logins',
        by: ['user'],
        limit: { quota: 1, window: '1h' },
        lockout: { after: 2, for: '10min' },
      },
      { name: 'tokens', by: ['user'], limit: '100/h', hold: '60s' },
    ]
    const admin = await administered({ ...store(), policies: [{ name: 'api', rules }] })
    const reserve = async () =>
      (await admin.post('/v1/reserve', { ...ann, estimate: 5 })).body as unknown as {
        readonly allowed: boolean
        readonly decision: { readonly reason: string; readonly rule: string }
      }
    const reserved = [await reserve(), await reserve(), await reserve(), await reserve()]
    expect(reserved.map(({ allowed }) => allowed)).toEqual([true, false, false, false])
    expect(reserved[3]).toMatchObject({ decision: { rule: 'logins', reason: 'locked-out' } })
    const { body } = await admin.ask('read', ann)
    expect(body.decision).toMatchObject({ allowed: false, reason: 'locked-out' })
    expect(body.decision.retryAfter).toBeGreaterThan(500_000)
    expect(body.explained.join('\n')).toMatch(/locked out/)

    const lifted = await admin.ask('reset', { ...ann, rule: 'logins' })
    expect(lifted.body.decision).toMatchObject({ allowed: true })
    // Of the refused requests nothing is held; the first reservation still is.
    expect(lifted.body.decision.outcomes).toMatchObject([
      { rule: 'logins', remaining: 1 },
      { rule: 'tokens', remaining: 95 },
    ])
    expect((await reserve()).allowed).toBe(true)
  })

  it('reset gives everything back, of all rules or of one', async () => {
    const admin = await administered(store())
    const attributes = { user: 'ann', key: 'k' }
    await check(admin, attributes, 3)
    const one = await admin.ask('reset', { attributes, rule: 'per-key' })
    expect(one.body.decision.outcomes).toMatchObject([
      { rule: 'per-user', remaining: 2 },
      { rule: 'per-key', remaining: 3 },
    ])
    const all = await admin.ask('reset', { attributes })
    expect(all.body.decision.outcomes).toMatchObject([{ remaining: 5 }, { remaining: 3 }])
    expect((await check(admin, attributes, 3)).body.allowed).toBe(true)
  })

  it('grant gives units, never above full', async () => {
    const admin = await administered(store())
    await check(admin, { user: 'ann' }, 5)
    const some = await admin.ask('grant', { ...ann, units: 2 })
    expect(some.body.decision).toMatchObject({ remaining: 2 })
    const many = await admin.ask('grant', { ...ann, rule: 'per-user', units: 100 })
    expect(many.body.decision).toMatchObject({ remaining: 5 })
  })

  it('grant gives as many units as it says, also to a rule with a cost of its own', async () => {
    const rules = [{ name: 'heavy', by: ['user'], limit: '50/h', cost: 10 }]
    const admin = await administered({ ...store(), policies: [{ name: 'api', rules }] })
    await check(admin, { user: 'ann' })
    const { body } = await admin.ask('grant', { ...ann, units: 3 })
    expect(body.decision).toMatchObject({ remaining: 43 })
  })

  it('says what is suspicious about a block or an override, and refuses what never holds', async () => {
    const { ask } = await administered()
    const { status, body } = await ask('block', { attributes: { usr: '42' }, for: '1h' })
    expect(status).toBe(200)
    expect(body.warnings).toEqual([expect.stringMatching(/did you mean user\?$/)])
    const override = { rule: 'per-user', when: { usr: '42' }, limit: '9/h' }
    expect((await ask('set-override', override)).body.warnings).toHaveLength(1)
    const network = await ask('block', { attributes: { ip: '10.0.0.0/8' }, for: '1h' })
    expect([network.status, network.body.field]).toEqual([400, 'attributes.ip'])
  })

  it('blocks for a time, with a reason of its own, and unblocks', async () => {
    const admin = await administered(store())
    const { status, body } = await admin.ask('block', { ...ann, for: '90s', note: 'scraping' })
    expect(status).toBe(200)
    expect(body.block).toMatchObject({ ...ann, policy: null, note: 'scraping', by: 'ops' })
    const refused = await check(admin, { user: 'ann', key: 'x' })
    expect(refused.body).toMatchObject({
      allowed: false,
      reason: 'blocked',
      rule: null,
      outcomes: [],
    })
    expect(refused.body.retryAfter).toBeGreaterThan(85_000)
    expect(refused.body.retryAfter).toBeLessThanOrEqual(90_000)
    expect((await admin.post('/v1/peek', ann)).body).toMatchObject({ reason: 'blocked' })
    expect((await check(admin, { user: 'bob' })).body.allowed).toBe(true)
    const { body: read } = await admin.ask('read', ann)
    expect(read).toMatchObject({
      block: { note: 'scraping' },
      decision: { allowed: false, reason: 'blocked', remaining: 5 },
    })
    expect(read.decision.retryAfter).toBeGreaterThan(85_000)
    expect(read.explained[0]).toBe(
      `refused: blocked by ops until ${read.block.until as string}: scraping`,
    )
    expect(read.explained[1]).toMatch(/^without the block: allowed by per-user/)
    expect((await admin.ask('blocks')).body.blocks).toHaveLength(1)
    expect((await admin.ask('unblock', ann)).status).toBe(200)
    expect((await check(admin, { user: 'ann' })).body.allowed).toBe(true)
    const missing = await admin.ask('unblock', ann)
    expect([missing.status, missing.body.detail]).toEqual([
      404,
      'no block has exactly these attributes',
    ])
    expect((await admin.ask('blocks')).body).toEqual({ blocks: [], cursor: null })
  })

  it('says which blocks of the same attributes still hold when one ends', async () => {
    const admin = await administered(store())
    await admin.ask('block', { ...ann, for: '90s' })
    await admin.ask('block', { ...ann, policy: 'api', for: '90s' })
    await admin.ask('block', { attributes: { user: 'bob' }, for: '90s' })
    const first = await admin.ask('unblock', ann)
    expect(first.body.blocks).toMatchObject([{ ...ann, policy: 'api' }])
    const again = await admin.ask('unblock', ann)
    expect([again.status, again.body.detail]).toEqual([
      404,
      'no block of every policy has exactly these attributes; what holds is: user=ann in policy api',
    ])
    const last = await admin.ask('unblock', { ...ann, policy: 'api' })
    expect(last.body).toEqual({ blocks: [] })
    expect((await check(admin, { user: 'ann' })).body.allowed).toBe(true)
  })

  it('a blocked request is counted as blocked, and not charged', async () => {
    const admin = await administered(store())
    await admin.ask('block', { key: 'k', for: '1min' })
    for (let i = 0; i < 5; i++) await admin.post('/v1/check', { key: 'k' })
    const metrics = await admin.metrics()
    expect(metrics).toContain('sluice_decisions_total{policy="api",rule="",result="blocked"} 5')
    expect(metrics).toMatch(/^sluice_blocks 1$/m)
    await admin.ask('unblock', { key: 'k' })
    expect((await admin.post('/v1/check', { key: 'k', cost: 3 })).body.allowed).toBe(true)
  })

  it('an override is in force at once, keeps the counts, and is removed', async () => {
    const admin = await administered(store())
    await check(admin, { user: 'ann' }, 5)
    expect((await check(admin, { user: 'ann' })).body.allowed).toBe(false)
    const override = { rule: 'per-user', when: { user: 'ann' } }
    const set = await admin.ask('set-override', { ...override, limit: '8/h', note: 'promised' })
    expect(set.body.override).toMatchObject({ ...override, idle: null, until: null, by: 'ops' })
    expect((await check(admin, { user: 'ann' })).body).toMatchObject({
      allowed: true,
      remaining: 2,
    })
    expect((await check(admin, { user: 'bob' })).body).toMatchObject({ remaining: 4 })
    expect((await admin.ask('overrides')).body.overrides).toHaveLength(1)
    expect((await admin.ask('remove-override', override)).status).toBe(200)
    expect((await check(admin, { user: 'ann' })).body.allowed).toBe(false)
    expect((await admin.ask('remove-override', override)).status).toBe(404)
  })

  it('keys are listed, by policy, rule and text, page by page', async () => {
    const admin = await administered(store())
    const checks = Array.from({ length: 900 }, (_, i) => ({ attributes: { user: `user-${i}` } }))
    await admin.post('/v1/check', { checks })
    for (const attributes of [{ key: 'k' }, { user: 'ann', route: '/a' }])
      await check(admin, attributes)
    expect(await listed(admin, 'limit=50')).toHaveLength(903)
    expect(await listed(admin, 'rule=per-key')).toEqual(['per-key k'])
    expect(await listed(admin, 'policy=api&rule=per-user&text=user-89')).toHaveLength(11)
    expect(await listed(admin, 'text=nobody')).toEqual([])
    const { body } = await admin.ask('keys?rule=per-route')
    expect(body.keys).toMatchObject([
      { policy: 'api', attributes: { user: 'ann', route: '/a' }, remaining: 99, allowed: true },
    ])
  })

  it('keys over their limit are found among many, by the limit that they have', async () => {
    const admin = await administered(store())
    const checks = Array.from({ length: 700 }, (_, i) => ({ attributes: { user: `user-${i}` } }))
    await admin.post('/v1/check', { checks })
    for (const user of ['user-3', 'user-77']) await check(admin, { user }, 4)
    expect(await listed(admin, 'over=true')).toEqual(['per-user user-3', 'per-user user-77'])
    await admin.ask('set-override', { rule: 'per-user', when: { user: 'user-3' }, limit: '9/h' })
    expect(await listed(admin, 'over=true')).toEqual(['per-user user-77'])
  })

  it('long and strange keys are listed without a failure', async () => {
    const admin = await administered(store())
    for (const user of ['x'.repeat(300), '{a}', '~#x', '😀*?[x]', 'a\nb', '~'])
      await check(admin, { user })
    expect(await listed(admin)).toHaveLength(6)
    expect(await listed(admin, `text=${encodeURIComponent('*?[')}`)).toHaveLength(1)
  })

  it('the state shows the store, and the breaker of each policy', async () => {
    const admin = await administered(store())
    const { body } = await admin.ask('state')
    const [kind, breaker] = _ === 'memory' ? ['memory', null] : ['redis', 'closed']
    expect(body).toMatchObject({
      status: 'serving',
      generation: 1,
      store: { kind },
      policies: [{ name: 'api', breaker, overrides: 0 }],
      blocks: 0,
    })
  })

  it('offenders are those refused most', async () => {
    const admin = await administered(store())
    for (let i = 0; i < 9; i++) await check(admin, { user: 'ann' })
    for (let i = 0; i < 7; i++) await check(admin, { user: 'bob' })
    const { body } = await admin.ask('offenders?limit=5')
    expect(body.offenders).toMatchObject([
      { rule: 'per-user', attributes: { user: 'ann' }, refused: 4 },
      { rule: 'per-user', attributes: { user: 'bob' }, refused: 2 },
    ])
  })
})
