// Limits that their owners believe in and that hold for no request, for others, or not as written; and what stays quiet.
import { describe, expect, it } from 'vitest'
import { reviewText } from './review.ts'

const rule = (fields: object): object => ({
  name: 'rule',
  by: ['user'],
  limit: '10/min',
  ...fields,
})
const first = 'policies[0].rules[0]'
const upstream = { proxy: { upstream: 'http://127.0.0.1:3000' } }

/** What a file with these rules warns of: codes, paths and messages. */
function found(rules: readonly object[], more: object = {}) {
  const text = JSON.stringify({ policies: [{ name: 'api', rules }], ...more })
  const { problems, warnings } = reviewText(text, 'sluice.json')
  expect(problems).toEqual([])
  return warnings
}
const signs = (rules: readonly object[], more: object = {}): readonly string[] =>
  found(rules, more).map(({ code, path }) => `${code} ${path}`)

describe('a cost that one of the limits of a rule never has room for is found', () => {
  it.each<[string, object, string]>([
    ['a tier', { tiers: { attribute: 'plan', limits: { free: '5/min' } } }, 'tiers.limits.free'],
    [
      'an override',
      { overrides: [{ when: { plan: 'free' }, limit: '5/min' }] },
      'overrides[0].limit',
    ],
    ['a limit on trial', { candidate: '5/min' }, 'candidate'],
    ['a pool', { pools: [{ name: 'credits', limit: '5/h' }] }, 'pools[0].limit'],
  ])('in %s', (_, fields, path) => {
    expect(signs([rule({ cost: 8, ...fields })])).toEqual([`fixed-cost ${first}.${path}`])
    expect(signs([rule({ cost: 5, ...fields })])).toEqual([])
  })

  it('not where a limit of 0 closes a rule on purpose', () => {
    const overrides = [{ when: { plan: 'free' }, limit: '0/min' }]
    expect(signs([rule({ cost: 8, overrides })])).toEqual([])
  })
})

describe('a setting that changes nothing is found', () => {
  it.each<[string, object, object, string]>([
    [
      'a longest lock without growth',
      { lockout: { after: 3, for: '1min', upTo: '1d' } },
      {},
      `${first}.lockout.upTo`,
    ],
    ['a mark of a shadow', { shadow: true, onExceed: 'mark' }, {}, `${first}.onExceed`],
    ['a trial of the same limit', { candidate: '10/60s' }, {}, `${first}.candidate`],
    ['thresholds without webhooks', { thresholds: [80] }, {}, `${first}.thresholds`],
    [
      'webhooks without thresholds',
      {},
      { webhooks: [{ url: 'https://hooks.example.com', secret: '0123456789abcdef' }] },
      'webhooks',
    ],
    ['replicas of a store in memory', {}, { failure: { replicas: 4 } }, 'failure.replicas'],
    ['a share beside memory', {}, { failure: { fallbackShare: 0.2 } }, 'failure.fallbackShare'],
  ])('%s', (_, fields, more, path) => {
    expect(signs([rule(fields)], more)).toEqual([`no-effect ${path}`])
  })

  it.each<[string, object, object]>([
    ['locks that grow', { lockout: { after: 3, for: '1min', upTo: '1d', grow: 2 } }, {}],
    [
      'a trial of another algorithm',
      { candidate: { quota: 10, window: '1min', algorithm: 'gcra' } },
      {},
    ],
    ['replicas on Redis', {}, { store: 'redis://127.0.0.1', failure: { replicas: 4 } }],
    [
      'thresholds with webhooks',
      { thresholds: [80] },
      { webhooks: [{ url: 'https://hooks.example.com', secret: '0123456789abcdef' }] },
    ],
  ])('not %s', (_, fields, more) => {
    expect(signs([rule(fields)], more)).toEqual([])
  })
})

it('local counts need to know how many instances there are', () => {
  const store = 'redis://127.0.0.1'
  const local = [rule({ coordination: 'local' })]
  expect(signs(local, { store })).toEqual([`whole-share ${first}.coordination`])
  expect(signs(local, { store, failure: { replicas: 4 } })).toEqual([])
  expect(signs([rule({ coordination: 'synced' })], { store })).toEqual([])
})

it('a local count whose part is less than one unit is found', () => {
  const store = 'redis://127.0.0.1'
  const failure = { replicas: 10 }
  const local = rule({
    coordination: 'local',
    limit: '9/min',
    overrides: [{ when: { plan: 'big' }, limit: '10/min' }],
    tiers: { attribute: 'plan', limits: { none: '0/min', small: '3/min' } },
  })
  const below = ['limit', 'tiers.limits.small'].map((place) => `part-below-one ${first}.${place}`)
  expect(signs([local], { store, failure })).toEqual(below)
  expect(signs([local], { store, failure: { fallbackShare: 0.1 } })).toEqual(below)
  expect(signs([local], { store, failure: { replicas: 3 } })).toEqual([])
  expect(signs([rule({ limit: '9/min' })], { store, failure })).toEqual([])
})

it('pools of one name in two rules are two pools', () => {
  const pools = [{ name: 'credits', limit: '100/h' }]
  const rules = [rule({ pools }), rule({ name: 'b', by: ['tenant'], pools })]
  expect(signs(rules)).toEqual(['separate-pools policies[0].rules[1].pools[0].name'])
})

it('that no proxy is trusted may be said', () => {
  const by = [rule({ by: ['ip'] })]
  expect(signs(by)).toEqual([`untrusted-address ${first}.by[0]`])
  expect(signs(by, { trustedProxies: [] })).toEqual([])
})

it('the keys of descriptors that Envoy sends are names of their own', () => {
  const rules = [rule({ by: ['remote_address'] }), rule({ name: 'b', by: ['api_key'] })]
  expect(signs(rules, { listeners: { grpc: {} } })).toEqual([])
})

describe('proxies that are trusted to name the client', () => {
  const by = [rule({ by: ['ip'] })]
  it.each(['0.0.0.0/0', '::/0', '128.0.0.0/1', '2000::/3'])(
    'are not all clients: %s',
    (network) => {
      expect(signs(by, { trustedProxies: ['10.0.0.0/8', network] })).toEqual([
        'trust-too-wide trustedProxies[1]',
      ])
    },
  )
  it('are quiet as private networks', () => {
    expect(signs(by, { trustedProxies: ['private', '10.0.0.0/8', 'fc00::/7', 'unix'] })).toEqual([])
  })
})

describe('a key that a request changes at will is found', () => {
  it.each(['requestId', 'request_id', 'traceId', 'timestamp', 'nonce'])(
    'an attribute that every request has another of: %s',
    (name) => {
      expect(signs([rule({ by: ['user', name] })])).toEqual([`escapable-key ${first}.by[1]`])
    },
  )
  it.each(['User-Agent', 'cookie', 'Referer', 'X-Request-Id', 'accept-language'])(
    'a field that clients write: %s',
    (field) => {
      const proxy = { attributes: { mark: field } }
      expect(signs([rule({ by: ['mark'] })], { proxy })).toEqual([`escapable-key ${first}.by[0]`])
    },
  )
  it('not where the rule names the values', () => {
    const proxy = { attributes: { agent: 'User-Agent' } }
    expect(signs([rule({ by: ['agent'], when: { agent: 'GoodBot*' } })], { proxy })).toEqual([])
    expect(signs([rule({ by: ['user'], when: { agent: 'present' } })], { proxy })).toEqual([])
  })
})

it.each(['X-Forwarded-For', 'forwarded'])('addresses are not read from %s', (field) => {
  const proxy = { attributes: { client: field } }
  const warnings = found([rule({ by: ['client'] })], { proxy })
  expect(warnings.map(({ code, path }) => `${code} ${path}`)).toEqual([
    'own-attribute proxy.attributes.client',
  ])
  expect(warnings[0]!.message).toContain('trustedProxies')
})

describe('an attribute by another name than the one that is set', () => {
  it.each([
    ['usre', 'user'],
    ['user_id', 'user'],
    ['userName', 'user'],
    ['X-Api-Key', 'apiKey'],
    ['req.headers.x-api-key', 'apiKey'],
    ['$remote_addr', 'ip'],
    ['remote_address', 'ip'],
    ['client_ip', 'ip'],
    ['http_method', 'method'],
    ['tenant-id', 'tenant'],
  ])('is found: %s', (name, meant) => {
    const [warning, ...others] = found([rule({ by: [name] })], { trustedProxies: ['10.0.0.0/8'] })
    expect(others).toEqual([])
    expect(warning).toMatchObject({ code: 'unset-attribute', path: `${first}.by[0]` })
    expect(warning!.message).toContain(`did you mean ${meant}?`)
  })

  it.each(['account', 'device', 'shop', 'keyboard', 'region', 'customer', 'model'])(
    'is a name of its own: %s',
    (name) => {
      expect(signs([rule({ by: [name] })])).toEqual([])
    },
  )

  it('is a name of its own where a field is named for it', () => {
    const proxy = { attributes: { client_ip: 'cf-connecting-ip', user_id: 'x-user' } }
    const rules = [rule({ by: ['client_ip', 'user_id'] })]
    expect(signs(rules, { proxy, trustedProxies: ['10.0.0.0/8'] })).toEqual([])
  })

  it('is found where fields and attributes are the wrong way round', () => {
    const proxy = { attributes: { 'x-api-key': 'apiKey' } }
    const [warning, ...others] = found([rule({ by: ['apiKey'] })], { proxy })
    expect(others).toEqual([])
    expect(warning).toMatchObject({
      code: 'unset-attribute',
      path: 'proxy.attributes["x-api-key"]',
    })
    expect(warning!.message).toContain('apiKey: x-api-key')
  })
})

describe('behind the reverse proxy', () => {
  it('counting by route needs routes', () => {
    const more = { listeners: upstream }
    expect(signs([rule({ by: ['route'] })], more)).toEqual([`undeclared-route ${first}.by[0]`])
    expect(signs([rule({ by: ['route'] })], { ...more, proxy: { routes: ['/a'] } })).toEqual([])
    expect(signs([rule({ by: ['route'] })])).toEqual([])
  })
  it('the network of an address is known', () => {
    const more = { listeners: upstream, trustedProxies: ['10.0.0.0/8'] }
    expect(signs([rule({ by: ['network'] })], more)).toEqual([])
  })
  it('no request has the beginning of an API key', () => {
    const proxy = { attributes: { apiKey: 'x-api-key' } }
    expect(signs([rule({ when: { apiKey: 'sk_live_*' } })], { proxy })).toEqual([
      `plain-api-key ${first}.when.apiKey`,
    ])
    expect(signs([rule({ when: { apiKey: ['present', '*'] } })], { proxy })).toEqual([])
  })
})

describe('a time zone', () => {
  const zoned = (timeZone: string) => [rule({ limit: { quota: 5, window: 'day', timeZone } })]
  it.each([
    ['Etc/GMT+2', '2 hours behind UTC'],
    ['Etc/GMT-10', '10 hours ahead of UTC'],
    ['EST', 'America/New_York'],
  ])('that is another one than it looks is found: %s', (timeZone, words) => {
    const [warning, ...others] = found(zoned(timeZone))
    expect(others).toEqual([])
    expect(warning).toMatchObject({ code: 'fixed-zone', path: `${first}.limit.timeZone` })
    expect(warning!.message).toContain(words)
  })
  it.each(['UTC', 'Etc/UTC', 'Europe/Berlin', 'Etc/GMT', 'GMT'])('is fine: %s', (timeZone) => {
    expect(signs(zoned(timeZone))).toEqual([])
  })
})

describe('one value in two cases', () => {
  const free = rule({ when: { plan: 'Free' } })
  it.each<[string, object]>([
    ['a condition', { when: { plan: ['pro', 'free'] } }],
    ['a tier', { tiers: { attribute: 'plan', limits: { free: '5/min' } } }],
    ['an override', { overrides: [{ when: { plan: 'free' }, limit: '5/min' }] }],
  ])('is found in %s', (_, fields) => {
    const warnings = found([free, rule({ name: 'b', ...fields })])
    expect(warnings.map(({ code }) => code)).toEqual(['value-case'])
    expect(warnings[0]!.message).toContain('Free')
  })
  it.each<[string, object[]]>([
    ['both in one list', [free, rule({ name: 'b', when: { plan: ['free', 'Free'] } })]],
    ['users', [rule({ when: { user: 'Ann' } }), rule({ name: 'b', when: { user: 'ann' } })]],
    ['another attribute', [free, rule({ name: 'b', when: { shop: 'free' } })]],
  ])('is quiet: %s', (_, rules) => {
    expect(signs(rules)).toEqual([])
  })
})

describe('in YAML', () => {
  const yaml = (fields: string): string =>
    `policies: [{ name: api, rules: [{ name: r, by: [user], ${fields} }] }]`
  const codes = (fields: string) =>
    reviewText(yaml(fields), 'x').warnings.map(({ code, path }) => `${code} ${path}`)
  it.each(['yes', 'No', 'on', 'OFF'])('%s is a text', (word) => {
    expect(codes(`limit: 1/s, when: { beta: ${word} }`)).toEqual([
      `unquoted-number ${first}.when.beta`,
    ])
    expect(codes(`limit: 1/s, when: { beta: '${word}' }`)).toEqual([])
  })
  it.each([3600, 86400, 604800, 2592000, 1500])('a window of %i is not seconds', (window) => {
    expect(codes(`limit: { quota: 1, window: ${window} }`)).toEqual([
      `bare-duration ${first}.limit.window`,
    ])
  })
  it.each([1000, 60000, 90000, 3600000, 86400000])('a window of %i is milliseconds', (window) => {
    expect(codes(`limit: { quota: 1, window: ${window} }`)).toEqual([])
  })
  it('two documents are a mistake in plain words', () => {
    const { problems } = reviewText(`${yaml('limit: 1/s')}\n---\n${yaml('limit: 1/s')}\n`, 'x')
    expect(problems).toMatchObject([{ line: 2, message: expect.stringContaining('one document') }])
    expect(problems[0]!.message).not.toContain('parseAll')
  })
  it('a cost in quotes is no attribute', () => {
    const { problems } = reviewText(yaml(`limit: 1/s, cost: '5'`), 'x')
    expect(problems).toMatchObject([{ path: `${first}.cost` }])
    expect(problems[0]!.message).toContain('without quotes')
  })
})

it.each(['/orders/[id]', '/orders/<id>', '/orders/<int:id>'])('%s is no route pattern', (route) => {
  const text = JSON.stringify({
    policies: [{ name: 'api', rules: [rule({})] }],
    proxy: { routes: [route] },
  })
  expect(reviewText(text, 'x').problems).toMatchObject([{ path: 'proxy.routes[0]' }])
})
