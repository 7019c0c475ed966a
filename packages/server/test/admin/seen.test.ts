// Who is refused and why, through the admin API: of one process, and of two on one Redis.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startRedis, type RedisServer } from '../../../../test/servers/redis-server.ts'
import { until } from '../../../../test/servers/until.ts'
import { administered, type Admin } from './admin.ts'

const ann = { user: 'ann' }
const why = async ({ ask }: Admin, query: string) => (await ask(`why?${query}`)).body

async function refused(admin: Admin, attributes: object, times = 3) {
  for (let i = 0; i < 5; i++) await admin.post('/v1/check', { attributes })
  let last
  for (let i = 0; i < times; i++) last = await admin.post('/v1/check', { attributes })
  return last!.body as unknown as { id: string; allowed: boolean }
}

describe('why', () => {
  it('answers for attributes and for a decision id alike', async () => {
    const admin = await administered()
    const { id } = await refused(admin, ann)
    const byName = await why(admin, 'attribute=user%3Dann')
    const byId = await why(admin, `id=${id}`)
    for (const answer of [byName, byId]) {
      expect(answer).toMatchObject({
        attributes: ann,
        block: null,
        complete: true,
        refusals: [
          {
            policy: 'api',
            rule: 'per-user',
            attributes: ann,
            count: 3,
            remaining: 0,
            mode: 'strict',
            clock: 'process',
          },
        ],
        now: [{ policy: 'api', allowed: false }],
      })
      expect(answer.sentences[0]).toMatch(
        /^Rule per-user \(.*5\/h.*\) of policy api refused user=ann 3 times: first /,
      )
    }
    expect(byName.refusedAt).toBeNull()
    expect(Date.parse(byId.refusedAt)).toBeLessThanOrEqual(Date.now())
  })

  it('says first that a key is blocked, by whom, until when and with what note', async () => {
    const admin = await administered()
    await admin.ask('block', { attributes: ann, for: '10min', note: 'scrapes\u202e\n' })
    const refusal = (await admin.post('/v1/check', { attributes: ann })).body as unknown as {
      id: string
    }
    const answer = await why(admin, `id=${refusal.id}`)
    expect(answer.block).toMatchObject({ by: 'ops', note: 'scrapes\u202e\n', attributes: ann })
    expect(answer.sentences[0]).toMatch(
      /^BLOCKED: user=ann is blocked by ops until .* \(another .*\), with the note "scrapes\\u\{202e\}\\u\{a\}"\.$/,
    )
    expect(answer.refusals).toMatchObject([{ reason: 'blocked', mode: 'blocked', count: 1 }])
  })

  it('names every block that holds, and only those of the policy that is asked about', async () => {
    const admin = await administered()
    await admin.ask('block', { attributes: ann, for: '10min', note: 'first' })
    await admin.ask('block', { attributes: ann, policy: 'api', for: '20min', note: 'second' })
    await admin.ask('block', { attributes: { user: 'bob' }, for: '10min' })
    const blocksIn = (answer: { sentences: readonly string[] }) =>
      answer.sentences.filter((line) => line.startsWith('BLOCKED'))
    const answer = await why(admin, 'attribute=user%3Dann')
    expect(answer.blocks).toMatchObject([{ policy: 'api' }, { policy: null }])
    expect(answer.block).toEqual(answer.blocks[0])
    expect(blocksIn(answer)).toEqual([
      expect.stringMatching(/^BLOCKED: user=ann is blocked in policy api by ops .*"second"\.$/),
      expect.stringMatching(/^BLOCKED: user=ann is blocked by ops .*"first"\.$/),
    ])
    const other = await why(admin, 'attribute=user%3Dann&policy=other')
    expect(blocksIn(other)).toHaveLength(1)
    expect(other.block).toMatchObject({ policy: null })
  })

  it('says that nothing is known', async () => {
    const admin = await administered()
    const answer = await why(admin, 'attribute=user%3Dnobody')
    expect(answer.sentences[0]).toBe('No refusal of user=nobody is known from the last hour.')
    expect(answer.now).toMatchObject([{ allowed: true }])
    const byId = await why(admin, 'id=AAAAAAAAAAcqREw0fZwHaHA')
    expect(byId.sentences).toEqual([
      'No refusal of the key of the decision AAAAAAAAAAcqREw0fZwHaHA is known from the last hour.',
    ])
  })

  it('says that a key is locked out, also when its limit refused it a moment before', async () => {
    const lockout = { after: 2, within: '1h', for: '1h' }
    const rule = { name: 'tries', by: ['user'], limit: '5/h', lockout }
    const admin = await administered({ policies: [{ name: 'api', rules: [rule] }] })
    await refused(admin, ann)
    const answer = await why(admin, 'attribute=user%3Dann')
    expect(answer.refusals).toMatchObject([{ reason: 'locked-out', count: 3 }])
    expect(answer.sentences[1]).toMatch(
      /^Many refusals have locked it out, for another (59 min|1 h)/,
    )
  })

  it.each(['', 'id=nonsense', 'attribute=user', 'id=AAAAAAAAAA&attribute=user%3D1'])(
    'refuses the question %j',
    async (query) => {
      const admin = await administered()
      expect((await admin.ask(`why?${query}`)).status).toBe(400)
    },
  )
})

/** Who is refused by `user` takes nothing of `team`. */
const rulesOfTeam = (more: object = {}) => [
  { name: 'user', by: ['user'], limit: '1/h', ...more },
  { name: 'team', by: ['team'], limit: '8/h', ...more },
]

describe('requests that one of several rules refuses', () => {
  it.each([
    ['check', 'check', {}],
    ['reservation', 'reserve', { hold: '10min' }],
  ])('take no units of the others: %s', async (_, route, more) => {
    const admin = await administered({ policies: [{ name: 'api', rules: rulesOfTeam(more) }] })
    const attempt = (user: string) =>
      admin.post(`/v1/${route}`, { attributes: { user, team: 't' } })
    for (let i = 0; i < 21; i++) await attempt('mallory')
    for (let i = 0; i < 8; i++) await attempt(`user-${i}`)
    const { body } = await admin.ask('keys/top?rule=team')
    expect(body.rules[0].busiest).toMatchObject([
      { attributes: { team: 't' }, count: 8, error: 0, spread: 0 },
    ])
    const answer = await why(admin, 'attribute=team%3Dt')
    expect(answer.refusals).toMatchObject([{ rule: 'team', count: 1 }])
    expect(JSON.stringify(answer.refusals[0].filledBy)).not.toContain('mallory')
    const text = await admin.metrics()
    // Of eight units, the seventh and the eighth left at most a fifth; the ninth request was refused.
    expect(text).toContain('sluice_rule_near_limit_total{policy="api",rule="team"} 3\n')
    expect(text).toContain('sluice_rule_cold_starts_total{policy="api",rule="team"} 1\n')
  })
})

describe('the top keys', () => {
  it('are listed for each rule, with their errors', async () => {
    const admin = await administered()
    await refused(admin, ann)
    await refused(admin, { user: 'bob' }, 5)
    const { body } = await admin.ask('keys/top?rule=per-user')
    expect(body).toMatchObject({ processes: 1, complete: true })
    expect(body.rules).toMatchObject([
      {
        policy: 'api',
        rule: 'per-user',
        by: ['user'],
        distinct: 2,
        refused: [
          { attributes: { user: 'bob' }, count: 5, error: 0 },
          { attributes: ann, count: 3, error: 0 },
        ],
        busiest: [{ count: 5 }, { count: 5 }],
        atZero: [{ attributes: ann }, { attributes: { user: 'bob' } }],
      },
    ])
  })
})

describe('the top keys of a name that does not exist', () => {
  it.each([
    ['rule=nope', 'there is no rule of that name; accepted: per-user, per-key, per-route'],
    ['policy=nope', 'there is no policy of that name; accepted: api'],
    [
      'policy=api&rule=nope',
      'there is no rule of that name in policy api; accepted: per-user, per-key, per-route',
    ],
  ])('are refused with the names that exist: %s', async (query, detail) => {
    const admin = await administered()
    expect(await admin.ask(`keys/top?${query}`)).toMatchObject({ status: 404, body: { detail } })
  })

  it('are those of a rule that no request has met yet, when there is such a rule', async () => {
    const admin = await administered()
    const { status, body } = await admin.ask('keys/top?policy=api&rule=per-key')
    expect([status, body.rules]).toEqual([200, []])
  })
})

describe('candidates', () => {
  it('say what would change, with the keys that would be newly refused', async () => {
    const rule = { name: 'per-user', by: ['user'], limit: '10/h', candidate: '2/h' }
    const trial = { name: 'trial', by: ['user'], limit: '4/h', shadow: true }
    const admin = await administered({ policies: [{ name: 'api', rules: [rule, trial] }] })
    for (let i = 0; i < 5; i++) await admin.post('/v1/check', { attributes: ann })
    const { body } = await admin.ask('candidates')
    expect(body.candidates).toMatchObject([
      {
        rule: 'per-user',
        kind: 'candidate',
        requests: 5,
        bothAllow: 2,
        newlyRefused: 3,
        newlyAllowed: 0,
        share: 0.6,
        aboveLine: true,
        keys: 1,
        top: [{ attributes: ann, count: 3, error: 0 }],
        sentence:
          'api/per-user: token bucket 10/h → token bucket 2/h. Flip now: 60 % of 5 requests and 1 key newly refused, worst: user=ann; 0 newly allowed. This is above the 2 % line.',
      },
      { rule: 'trial', kind: 'shadow', limit: null, newlyRefused: 1, bothAllow: 4 },
    ])
    const text = await admin.metrics()
    expect(text).toContain(
      'sluice_candidate_decisions_total{policy="api",rule="per-user",result="newly-refused"} 3',
    )
  })
})

describe('two instances on one Redis', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  it('answer for both', async () => {
    // Long enough for a busy machine: what the fallback decides has another clock.
    const store = { kind: 'redis', url: redis.url, timeout: 20_000 }
    const [one, two] = [await administered({ store }), await administered({ store })]
    await refused(one, ann, 3)
    const { id } = await refused(two, ann, 2)
    for (const admin of [one, two]) {
      await until('both are heard', 30_000, async () => {
        return (await why(admin, `id=${id}`)).refusals[0]?.count === 10
      })
      const [entry] = (await why(admin, 'attribute=user%3Dann')).refusals
      expect(entry).toMatchObject({ attributes: ann, clock: 'store', count: 10 })
      const { body } = await admin.ask('keys/top')
      expect(body).toMatchObject({ processes: 2, complete: true })
      expect(body.rules[0].refused).toMatchObject([{ attributes: ann, count: 10 }])
    }
  })

  it('count refusals that were remembered, and how long the store took', async () => {
    const store = { kind: 'redis', url: redis.url, prefix: 'cached:', timeout: 20_000 }
    const { post, metrics } = await administered({ store })
    const number = async (series: string) => {
      const line = (await metrics()).split('\n').find((one) => one.startsWith(`${series} `))
      return Number(line?.slice(series.length + 1))
    }
    await until('a refusal is remembered', 20_000, async () => {
      const checks = Array.from({ length: 20 }, () => post('/v1/check', { attributes: ann }))
      await Promise.all(checks)
      return (await number('sluice_cached_refusals_total{policy="api"}')) > 0
    })
    const asked = await number('sluice_store_duration_seconds_count')
    const all = await number('sluice_decision_duration_seconds_count{policy="api"}')
    const cached = await number('sluice_cached_refusals_total{policy="api"}')
    expect(asked).toBeGreaterThan(0)
    expect(asked + cached).toBeLessThanOrEqual(all)
  })

  it('keep what they have seen for a limited time only', async () => {
    const store = { kind: 'redis', url: redis.url, prefix: 'short:', timeout: 20_000 }
    const admin = await administered({ store })
    await refused(admin, ann)
    const names = ['rules', 'journal', 'order'].map((name) => `short:{~seen}${name}`)
    await until('the server is known', 5000, async () => {
      return /^sluice_redis_memory_used_bytes [1-9]/m.test(await admin.metrics())
    })
    expect((await admin.ask('store')).body).toMatchObject({ kind: 'redis', degraded: false })
    await until('all is written', 5000, async () => {
      return (await redis.cli<number>('EXISTS', ...names)) === 3
    })
    for (const name of names) expect(await redis.cli<number>('PTTL', name)).toBeGreaterThan(1000)
  })
})

describe('the doctor', () => {
  const found = async ({ ask }: Admin) =>
    Object.fromEntries(
      (
        (await ask('doctor')).body.findings as { name: string; level: string; message: string }[]
      ).map((one) => [one.name, one]),
    )

  it('finds a Redis that runs no scripts, and one that is gone', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    await redis.cli('ACL', 'SETUSER', 'poor', 'on', '>pw', '~*', '+@all', '-eval', '-evalsha')
    const url = redis.url.replace('//', '//poor:pw@')
    const poor = await administered({ store: { kind: 'redis', url, timeout: '1s' } })
    for (let i = 0; i < 10; i++) await poor.post('/v1/check', { attributes: ann })
    expect(await found(poor)).toMatchObject({
      store: { level: 'error', message: expect.stringMatching(/^redis answers, but/) },
      scripts: { level: 'error', message: expect.stringContaining('+eval and +evalsha') },
    })
    await redis.cli('ACL', 'SETUSER', 'poor', '+eval', '+evalsha')
    await until('its scripts run', 10_000, async () => {
      await poor.post('/v1/check', { attributes: ann })
      const { store, scripts } = await found(poor)
      return store!.level === 'ok' && scripts!.level === 'ok'
    })
    redis.kill('SIGSTOP')
    await until('it is missed', 30_000, async () => {
      await Promise.all(
        Array.from({ length: 10 }, (_, i) =>
          poor.post('/v1/check', { attributes: { user: `${i}` } }),
        ),
      )
      return (await found(poor))['store']!.level === 'error'
    })
    const { store, scripts } = await found(poor)
    expect(store!.message).toMatch(/^redis does not answer/)
    expect(scripts).toBeUndefined()
  })

  it('finds a Redis that evicts, which metrics show too', async () => {
    const args = ['--maxmemory', '3mb', '--maxmemory-policy', 'allkeys-lru']
    const redis = await startRedis({ args })
    onTestFinished(() => redis.stop())
    const store = { kind: 'redis', url: redis.url, timeout: '5s' }
    const admin = await administered({ store })
    const fill = "for i = 1, 2000 do redis.call('SET', ARGV[1] .. i, string.rep('x', 200)) end"
    for (let i = 0; i < 20; i++) await redis.cli('EVAL', fill, '0', `${i}-`)
    await until(
      'it is connected',
      10_000,
      async () => (await found(admin))['evictions'] !== undefined,
    )
    expect(await found(admin)).toMatchObject({
      'eviction policy': { level: 'warning' },
      evictions: { level: 'warning' },
      memory: { level: 'warning' },
    })
    const text = await admin.metrics()
    expect(text).toMatch(/^sluice_redis_evicted_keys [1-9]/m)
    expect(text).toMatch(/^sluice_redis_memory_max_bytes 3145728$/m)
  })
})
