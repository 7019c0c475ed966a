import { parsePolicy, type Rule } from 'sluice'
import { apiKeyHash } from 'sluice/http'
import { describe, expect, it } from 'vitest'
import { describePolicy } from './describe.ts'
import { reviewText } from './review.ts'

const rule = (fields: object): object => ({
  name: 'rule',
  by: ['user'],
  limit: '10/min',
  ...fields,
})
const fileOf = (rules: readonly object[], more: object = {}) =>
  JSON.stringify({ policies: [{ name: 'api', rules }], ...more })

/** The codes and paths of what a file warns of. */
function warnings(rules: readonly object[], more: object = {}) {
  const review = reviewText(fileOf(rules, more), 'sluice.json')
  expect(review.problems).toEqual([])
  return review.warnings.map(({ code, path }) => `${code} ${path}`)
}

describe('a trap is found', () => {
  const first = 'policies[0].rules[0]'
  it.each<[string, object[], string]>([
    ['by a misspelled attribute', [rule({ by: ['usr'] })], `unset-attribute ${first}.by[0]`],
    [
      'a condition on a misspelled attribute',
      [rule({ when: { pln: 'pro' } })],
      `unset-attribute ${first}.when.pln`,
    ],
    [
      'an override for a misspelled attribute',
      [rule({ overrides: [{ when: { plann: 'pro' }, limit: '1/s' }] })],
      `unset-attribute ${first}.overrides[0].when.plann`,
    ],
    [
      'tiers by a misspelled attribute',
      [rule({ tiers: { attribute: 'plann', limits: { pro: '1/s' } } })],
      `unset-attribute ${first}.tiers.attribute`,
    ],
    [
      'a method in lower case',
      [rule({ when: { method: ['GET', 'post'] } })],
      `method-case ${first}.when.method`,
    ],
    [
      'a cost from a misspelled attribute',
      [rule({ cost: 'teem' })],
      `unset-attribute ${first}.cost`,
    ],
    [
      'a method beside a prefix',
      [rule({ when: { method: ['post', 'G*'] } })],
      `method-case ${first}.when.method`,
    ],
    [
      'HEAD, which counts as GET',
      [rule({ when: { method: 'HEAD' } })],
      `method-case ${first}.when.method`,
    ],
    [
      'a rare method',
      [rule({ when: { method: { equals: 'PURGE' } } })],
      `method-case ${first}.when.method`,
    ],
    [
      'a method with a space',
      [rule({ when: { method: 'POST ' } })],
      `stray-space ${first}.when.method`,
    ],
    ['a value with a space', [rule({ when: { plan: ' pro' } })], `stray-space ${first}.when.plan`],
    [
      'one IPv6 address',
      [rule({ when: { ip: '2001:db8:0:5::1' } })],
      `address-prefix ${first}.when.ip`,
    ],
    [
      'an override that exempts more than it says',
      [
        rule({
          overrides: [{ when: { ip: ['10.0.0.0/8', '2001:db8::/64'] }, limit: 'unlimited' }],
        }),
      ],
      `address-prefix ${first}.overrides[0].when.ip`,
    ],
    [
      'methods by a prefix in lower case',
      [rule({ when: { method: 'po*' } })],
      `method-case ${first}.when.method`,
    ],
    [
      'a tier with a space',
      [rule({ tiers: { attribute: 'plan', limits: { 'pro ': '9/s' } } })],
      `stray-space ${first}.tiers.limits["pro "]`,
    ],
    [
      'an override behind one for all',
      [
        rule({
          by: ['tenant'],
          overrides: [
            { when: { user: '*' }, limit: '5/s' },
            { when: { user: 'ann' }, limit: '50/s' },
          ],
        }),
      ],
      `never-chosen ${first}.overrides[1]`,
    ],
    [
      'an override that leaves nobody to the limit',
      [rule({ overrides: [{ when: { user: 'present' }, limit: 'unlimited' }] })],
      `never-chosen ${first}.overrides[0]`,
    ],
    ['by what must be absent', [rule({ when: { user: 'absent' } })], `never-applies ${first}.by`],
    [
      'an override against its rule',
      [rule({ when: { plan: 'free' }, overrides: [{ when: { plan: 'pro' }, limit: '1/s' }] })],
      `never-chosen ${first}.overrides[0]`,
    ],
    [
      'an override for an absent attribute that must be present',
      [
        rule({
          when: { plan: 'present' },
          overrides: [{ when: { plan: 'absent' }, limit: '1/s' }],
        }),
      ],
      `never-chosen ${first}.overrides[0]`,
    ],
    [
      'an override behind the same one',
      [
        rule({
          overrides: [
            { when: { plan: 'pro' }, limit: '1/s' },
            { when: { plan: 'pro' }, limit: '2/s' },
          ],
        }),
      ],
      `never-chosen ${first}.overrides[1]`,
    ],
    [
      'a tier for which the rule does not apply',
      [
        rule({
          when: { plan: ['free', 'pro'] },
          tiers: { attribute: 'plan', limits: { pro: '5/s', gold: '9/s' } },
        }),
      ],
      `never-chosen ${first}.tiers.limits.gold`,
    ],
    ['a raw path', [rule({ by: ['user', 'path'] })], `raw-path ${first}.by[1]`],
    ['a raw path by another name', [rule({ by: ['request_uri'] })], `raw-path ${first}.by[0]`],
    [
      'two rules on one key',
      [rule({ limit: '10/min' }), rule({ name: 'b', limit: '100/min' })],
      'same-key policies[0].rules[1]',
    ],
    [
      'two rules on one key, the stricter one second',
      [
        rule({ when: { a: '1', b: '2' }, by: ['x', 'y'], limit: '100/min' }),
        rule({ name: 'b', when: { b: '2', a: '1' }, by: ['y', 'x'], limit: '100/h' }),
      ],
      'same-key policies[0].rules[1]',
    ],
    [
      'a fixed window on a login route',
      [
        rule({
          when: { route: '/login' },
          limit: { quota: 5, window: '1min', algorithm: 'fixed-window' },
        }),
      ],
      `login-window ${first}.limit`,
    ],
    [
      'a fixed window on a tier of a login rule',
      [
        rule({
          name: 'sign-in',
          tiers: {
            attribute: 'plan',
            limits: { pro: { quota: 5, window: '1min', algorithm: 'fixed-window' } },
          },
        }),
      ],
      `login-window ${first}.tiers.limits.pro`,
    ],
    [
      'a tier for a method in lower case',
      [rule({ tiers: { attribute: 'method', limits: { post: '1/s' } } })],
      `method-case ${first}.tiers.limits.post`,
    ],
    ...['*', 'pro*', 'present', 'absent', 'free,pro', '^pro', 'default', 'else', 'any', '.*'].map(
      (value): [string, object[], string] => [
        `a tier for the pattern ${value}`,
        [rule({ tiers: { attribute: 'plan', limits: { [value]: '9/s' } } })],
        `literal-pattern ${first}.tiers.limits${/^\w+$/.test(value) ? `.${value}` : `[${JSON.stringify(value)}]`}`,
      ],
    ),
    [
      'a tier for a network',
      [rule({ tiers: { attribute: 'ip', limits: { '10.0.0.0/8': '9/s' } } })],
      `literal-pattern ${first}.tiers.limits["10.0.0.0/8"]`,
    ],
    [
      'a tier for an IPv6 address that is counted by its network',
      [rule({ tiers: { attribute: 'ip', limits: { '2001:db8::1': '9/s' } } })],
      `address-prefix ${first}.tiers.limits["2001:db8::1"]`,
    ],
    [
      'a tier that an override hides',
      [
        rule({
          overrides: [{ when: { plan: ['pro', 'max'] }, limit: 'unlimited' }],
          tiers: { attribute: 'plan', limits: { free: '1/s', pro: '9/s' } },
        }),
      ],
      `never-chosen ${first}.tiers.limits.pro`,
    ],
    ...(
      [
        ['plan', '^(free|pro)$'],
        ['plan', 'free|pro'],
        ['method', 'GET, POST'],
        ['plan', 'free,pro'],
        ['plan', '[free, pro]'],
        ['route', '/orders/[0-9]+'],
        ['route', '/api/.*'],
        ['route', '/login$'],
        ['operation', '/\\d+/x'],
        ['plan', 'any'],
        ['plan', 'none'],
        ['user', 'null'],
        ['user', ['ann', 'undefined']],
        ['plan', 'pro?'],
        ['plan', 'pro%'],
        ['plan', '%pro%'],
        ['host', 'API.example.com'],
        ['host', 'example.com:443'],
        ['host', 'https://example.com'],
        ['route', 'POST /login'],
        ['route', 'get /api/*'],
        ['route', '/login?x=1'],
        ['route', 'https://example.com/login'],
        ['plan', '!free'],
        ['plan', 'free;pro'],
        ['plan', 'free or pro'],
        ['plan', "'pro'"],
        ['plan', '=pro'],
        ['plan', 'pro\u200B'],
        ['plan', '\u0440ro'],
        ['plan', 'not free'],
        ['age', '>= 18'],
        ['peer', '10.0.0.0/8'],
        ['ip', { equals: '10.0.0.0/8' }],
        ['network', { equals: '10.0.0.0/24' }],
      ] as const
    ).map(([attribute, value]): [string, object[], string] => [
      `a condition on ${attribute} with ${JSON.stringify(value)}`,
      [rule({ when: { [attribute]: value } })],
      `literal-pattern ${first}.when.${attribute}`,
    ]),
    ...(
      [
        [{ route: '/a/*' }, { route: '/a/b' }],
        [{ plan: ['pro', 'max'] }, { plan: 'max', user: 'ann' }],
        [{ ip: '10.0.0.0/8' }, { ip: '10.1.0.0/16' }],
        [{ ip: '10.0.0.0/8' }, { ip: ['10.1.2.3', '10.9.9.9'] }],
        [{ user: 'a*' }, { user: ['ann', 'ab*'] }],
        [{ user: ['ann', 'a*'] }, { user: 'ann' }],
      ] as const
    ).map(([wide, narrow]): [string, object[], string] => [
      `an override for ${JSON.stringify(narrow)} behind one for ${JSON.stringify(wide)}`,
      [
        rule({
          overrides: [
            { when: wide, limit: '5/s' },
            { when: narrow, limit: '50/s' },
          ],
        }),
      ],
      `never-chosen ${first}.overrides[1]`,
    ]),
    [
      'an override for all that the rule applies to',
      [
        rule({
          when: { route: '/a/b' },
          overrides: [{ when: { route: '/a/*' }, limit: '5/s' }],
        }),
      ],
      `never-chosen ${first}.overrides[0]`,
    ],
    [
      'an override whose values are each hidden by another one',
      [
        rule({
          overrides: [
            { when: { user: 'a*' }, limit: '5/s' },
            { when: { user: 'bob' }, limit: '5/s' },
            { when: { user: ['ann', 'bob'] }, limit: '50/s' },
          ],
        }),
      ],
      `never-chosen ${first}.overrides[2]`,
    ],
    [
      'several attributes in one name',
      [rule({ by: ['user,ip'] })],
      `unset-attribute ${first}.by[0]`,
    ],
    ['a cost of nothing', [rule({ cost: 0 })], `fixed-cost ${first}.cost`],
    ['a cost that never fits', [rule({ cost: 11 })], `fixed-cost ${first}.cost`],
    [
      'tokens without weight',
      [rule({ hold: '60s', weights: { input: 0, cached: 0, output: 0 } })],
      `fixed-cost ${first}.weights`,
    ],
    [
      'networks that have no address in common',
      [
        rule({
          when: { ip: '10.0.0.0/8' },
          overrides: [{ when: { ip: '192.0.2.1' }, limit: '5/s' }],
        }),
      ],
      `never-chosen ${first}.overrides[0]`,
    ],
    ['addresses without proxies', [rule({ by: ['ip'] })], `untrusted-address ${first}.by[0]`],
  ])('%s', (_, rules, expected) => {
    expect(warnings(rules)).toEqual([expected])
  })

  it('a port that is open to others', () => {
    const listeners = { http: { host: '0.0.0.0' }, grpc: { host: '::' } }
    expect(warnings([rule({})], { listeners })).toEqual([
      'open-listener listeners.http.host',
      'open-listener listeners.grpc.host',
    ])
  })
})

it('an admin API that others can read along is a trap, and with TLS it is none', () => {
  const admin = { host: '0.0.0.0' }
  const found = warnings([rule({})], { listeners: { admin } })
  expect(found).toEqual(['plain-admin listeners.admin.host'])
  const secure = { ...admin, tls: { cert: 'a', key: 'b' } }
  expect(warnings([rule({})], { listeners: { admin: secure } })).toEqual([])
})

it('a reverse proxy is there to be reached', () => {
  const proxy = { host: '0.0.0.0', upstream: 'http://127.0.0.1:3000' }
  const routes = { routes: ['/orders/{id}'] }
  expect(warnings([rule({ by: ['route'] })], { listeners: { proxy }, proxy: routes })).toEqual([])
})

it('a misspelling that rules share is found in each of them', () => {
  const shared = [rule({ by: ['usr'] }), rule({ name: 'b', by: ['usr'], limit: '100/h' })]
  expect(warnings(shared)).toEqual([
    'unset-attribute policies[0].rules[0].by[0]',
    'unset-attribute policies[0].rules[1].by[0]',
  ])
})

it('thousands of overrides and rules are looked through at once', () => {
  const overrides = Array.from({ length: 9000 }, (_, i) => ({
    when: { user: `u${i}` },
    limit: '1/s',
  }))
  const wide = Array.from({ length: 900 }, (_, i) => ({ when: { user: `w${i}-*` }, limit: '1/s' }))
  expect(warnings([rule({ overrides: [...overrides, ...wide] })])).toEqual([])
})

describe('a text that YAML reads as another one', () => {
  const yaml = (lines: string): string => `policies:
  - name: api
    rules:
      - name: paid
        by: [user]
        limit: 1/s
${lines}`
  it.each([
    ['        when: { plan: 007 }', '.when.plan'],
    ['        when: { plan: [1.0, 2] }', '.when.plan[0]'],
    ['        when: { plan: { equals: 1e3 } }', '.when.plan.equals'],
    ['        when: { plan: True }', '.when.plan'],
    ['        when: { plan: 12345678901234567890 }', '.when.plan'],
    ['        overrides: [{ when: { user: 0x10 }, limit: 9/s }]', '.overrides[0].when.user'],
    ['        tiers: { attribute: plan, limits: { 007: 9/s } }', '.tiers.limits["7"]'],
  ])('is found: %s', (lines, path) => {
    const { problems, warnings: found } = reviewText(yaml(lines), 'sluice.yaml')
    expect(problems).toEqual([])
    expect(found.map((one) => `${one.code} ${one.path}`)).toEqual([
      `unquoted-number policies[0].rules[0]${path}`,
    ])
    expect(found[0]!.line).toBe(7)
  })

  it.each([
    '        when: { plan: "007" }',
    '        when: { plan: 7 }',
    '        when: { plan: 1.5 }',
    '        cost: 0x1',
  ])('is not found: %s', (lines) => {
    expect(reviewText(yaml(lines), 'sluice.yaml')).toMatchObject({ problems: [], warnings: [] })
  })

  it.each(['$BOT', '"%BOT%"', '"{{ BOT }}"'])('is a variable of another language: %s', (text) => {
    const [warning, ...others] = reviewText(yaml(`        when: { user: ${text} }`), 'x').warnings
    expect(others).toEqual([])
    expect(warning).toMatchObject({ code: 'unread-variable', line: 7, column: 23 })
    expect(warning!.message).toContain('write ${BOT}')
  })
})

describe('a variable of the environment that nothing reads', () => {
  const found = (environment: Record<string, string>, more: object = {}) =>
    reviewText(fileOf([rule({})], more), 'sluice.json', environment).warnings
  it.each([
    [{ SLUICE_WORKRES: '2' }, 'SLUICE_WORKERS'],
    [{ SLUICE_HTTP_PROT: '80' }, 'SLUICE_HTTP_PORT'],
    [{ sluice_log: 'debug' }, 'SLUICE_LOG'],
    [{ SLUICE_PORT: '80' }, 'SLUICE_HTTP_PORT'],
    [{ SLUICE_REDIS_URL: 'redis://redis' }, 'REDIS_URL'],
    [{ SLUICE_LOG_LEVEL: 'debug' }, 'SLUICE_LOG'],
  ])('is found: %o', (environment, meant) => {
    const [name] = Object.keys(environment)
    expect(found(environment)).toEqual([
      {
        file: 'environment',
        path: '',
        code: 'unread-variable',
        help: expect.stringContaining('#unread-variable') as string,
        message: `${name} is set, and nothing reads it; did you mean ${meant}?`,
      },
    ])
  })

  it.each([
    {
      SLUICE_SERVICE_HOST: '10.0.0.7',
      SLUICE_SERVICE_PORT: '8080',
      SLUICE_SERVICE_PORT_HTTP: '8080',
      SLUICE_PORT: 'tcp://10.0.0.7:8080',
      SLUICE_PORT_8080_TCP: 'tcp://10.0.0.7:8080',
      SLUICE_PORT_8080_TCP_PROTO: 'tcp',
      SLUICE_PORT_8080_TCP_PORT: '8080',
      SLUICE_PORT_8080_TCP_ADDR: '10.0.0.7',
      SLUICE_HTTPS_SERVICE_HOST: '10.0.0.8',
    },
    { SLUICE_LOG: 'error', SLUICE_HEALTH_URL: 'https://127.0.0.1/healthz' },
    { SLUICE_REGION: 'eu', WORKERS: '2' },
  ])('is not one of Kubernetes, of the service, or of another program: %o', (environment) => {
    expect(found(environment)).toEqual([])
  })

  it.each([
    ['SLUICE_REDIS_PREFIX', 'x:', 'REDIS_URL'],
    ['SLUICE_REDIS_TIMEOUT', '50ms', 'REDIS_URL'],
    ['SLUICE_PROXY_PORT', '8088', 'SLUICE_PROXY_UPSTREAM'],
    ['SLUICE_ADMIN_PORT', '9000', 'SLUICE_ADMIN_TOKEN'],
  ])('is one that has no effect: %s', (name, value, needed) => {
    const [warning, ...others] = found({ [name]: value })
    expect(others).toEqual([])
    expect(warning).toMatchObject({ code: 'unread-variable', file: 'environment' })
    expect(warning!.message).toContain(`${name} is set, and has no effect`)
    expect(warning!.message).toContain(`set ${needed}`)
  })

  it.each([
    { SLUICE_REDIS_PREFIX: 'x:', REDIS_URL: 'redis://127.0.0.1' },
    { SLUICE_PROXY_PORT: '8088', SLUICE_PROXY_UPSTREAM: 'http://127.0.0.1:3000' },
    { SLUICE_ADMIN_HOST: '0.0.0.0', SLUICE_PROXY_HOST: '0.0.0.0' },
  ])('is not one that has its part there, nor a host: %o', (environment) => {
    const text = fileOf([rule({ by: ['method'] })])
    expect(reviewText(text, 'x', environment).warnings).toEqual([])
  })

  it('is not one that the file reads', () => {
    const more = { listeners: { http: { host: '${SLUICE_HOST}' } } }
    expect(found({ SLUICE_HOST: '127.0.0.1' }, more)).toEqual([])
  })
})

describe('a duration without a unit', () => {
  const yaml = (fields: string): string =>
    `policies: [{ name: api, rules: [{ name: r, by: [user], ${fields} }] }]`
  it.each([
    ['limit: { quota: 1, window: 60 }', '.limit.window'],
    ['limit: 5/min, hold: 60', '.hold'],
    ['limit: 5/min, lockout: { after: 3, for: 900 }', '.lockout.for'],
  ])('is milliseconds, which is said: %s', (fields, path) => {
    const { problems, warnings: found } = reviewText(yaml(fields), 'x')
    expect(problems).toEqual([])
    expect(found.map((one) => `${one.code} ${one.path}`)).toEqual([
      `bare-duration policies[0].rules[0]${path}`,
    ])
  })
  it.each(['limit: { quota: 1, window: 60000 }', 'limit: { quota: 1, window: 500ms }'])(
    'is no question in %s',
    (fields) => {
      expect(reviewText(yaml(fields), 'x').warnings).toEqual([])
    },
  )
})

it('an attribute of proxies that differs from a rule by its case is found', () => {
  const proxy = { attributes: { User: 'x-user' } }
  expect(warnings([rule({})], { proxy })).toEqual(['unset-attribute proxy.attributes.User'])
})

it('attributes that the service reads by itself are not to be read from a field', () => {
  const attributes = { ip: 'x-real-ip', method: 'x-method', route: 'x-route', user: 'x-user' }
  expect(warnings([rule({})], { proxy: { attributes } })).toEqual([
    'own-attribute proxy.attributes.ip',
    'own-attribute proxy.attributes.method',
    'own-attribute proxy.attributes.route',
  ])
})

describe('what is meant is not warned of', () => {
  it.each<[string, object[]]>([
    ['one rule', [rule({})]],
    ['HEAD beside GET', [rule({ when: { method: ['GET', 'HEAD'] } })]],
    ['a rule for the anonymous', [rule({ when: { user: 'absent' }, by: ['device'] })]],
    [
      'an override for some of the requests',
      [
        rule({
          when: { plan: ['free', 'pro'], route: '/a/*' },
          overrides: [
            { when: { plan: 'pro' }, limit: '1/s' },
            { when: { route: '/a/b' }, limit: '1/s' },
          ],
        }),
      ],
    ],
    ['a tier that may be chosen', [rule({ tiers: { attribute: 'plan', limits: { pro: '5/s' } } })]],
    ['a short and a long limit', [rule({ limit: '10/s' }), rule({ name: 'b', limit: '100/h' })]],
    ['another key', [rule({}), rule({ name: 'b', by: ['tenant'] })]],
    ['another condition', [rule({}), rule({ name: 'b', when: { route: '/x' } })]],
    ['a shadow', [rule({}), rule({ name: 'b', limit: '5/min', shadow: true })]],
    ['a route', [rule({ by: ['route'] })]],
    ...(
      [
        { user: 'auth0|5f7c' },
        { user: 'Doe, John' },
        { service: 'payments.*' },
        { user: 'CORP\\dave' },
        { user: 'cn=ann,ou=people' },
        { plan: 'pro+' },
        { price: 'US$' },
        { plan: { equals: 'free|pro' } },
        { peer: { network: '10.0.0.0/8' } },
        { user: 'a,b c' },
        { user: "O'Brien" },
        { user: 'Мария' },
        { title: 'ready or not, here' },
        { route: '/files/*' },
        { plan: { equals: 'none' } },
        { plan: 'anyone' },
        { discount: '50%' },
        { host: 'api.example.com' },
        { host: 'localhost:8443' },
        { host: '*' },
        { route: '/users/:id?' },
        { route: '/a/<id>' },
        { route: '/a/(.:format)' },
        { route: 'users#show' },
        { route: '/shop.Cart/Add' },
        { route: { equals: 'POST /login' } },
      ] as const
    ).map((when): [string, object[]] => [JSON.stringify(when), [rule({ when })]]),
    [
      'a narrow override in front of a wide one',
      [
        rule({
          overrides: [
            { when: { ip: '10.1.0.0/16' }, limit: '50/s' },
            { when: { ip: '10.0.0.0/8' }, limit: '5/s' },
          ],
        }),
      ],
    ],
    [
      'an override for one address of the networks that the rule names',
      [
        rule({
          when: { ip: '10.0.0.0/8' },
          overrides: [{ when: { ip: '10.1.2.3' }, limit: '5/s' }],
        }),
      ],
    ],
    ['a cost that fits', [rule({ cost: 10 })]],
    ['tokens with some weight', [rule({ hold: '60s', weights: { input: 0, output: 1 } })]],
    ['slots beside a limit', [rule({}), { name: 'b', by: ['user'], concurrency: 2 }]],
    ['slots of logins', [{ name: 'login', by: ['user'], concurrency: 2 }]],
    [
      'a soft limit below a hard one',
      [rule({}), rule({ name: 'b', limit: '5/min', onExceed: 'mark' })],
    ],
    [
      'one limit by two algorithms',
      [
        rule({}),
        rule({ name: 'b', limit: { quota: 10, window: '1min', algorithm: 'fixed-window' } }),
      ],
    ],
    [
      'a sliding log on a login route',
      [
        rule({
          when: { route: '/login' },
          limit: { quota: 5, window: '1min', algorithm: 'sliding-log' },
        }),
      ],
    ],
  ])('%s', (_, rules) => {
    expect(warnings(rules)).toEqual([])
  })

  it('a port that is open to known clients', () => {
    const tls = { cert: 'a', key: 'b', ca: 'c' }
    const listeners = { http: { host: '0.0.0.0', tls }, grpc: { host: '::', tls } }
    expect(warnings([rule({})], { listeners })).toEqual([])
    const asked = { http: { host: '0.0.0.0', tls: { ...tls, clients: 'optional' } } }
    expect(warnings([rule({})], { listeners: asked })).toEqual([
      'open-listener listeners.http.host',
    ])
  })

  it('addresses behind trusted proxies', () => {
    expect(warnings([rule({ by: ['ip'] })], { trustedProxies: ['10.0.0.0/8'] })).toEqual([])
  })
})

it('a warning is shown where it was written', () => {
  const text = `policies:
  - name: api
    rules:
      - name: per-path
        by:
          - user
          - path
        limit: 10/min
`
  expect(reviewText(text, 'sluice.yaml').warnings).toMatchObject([
    { file: 'sluice.yaml', line: 7, column: 13, code: 'raw-path' },
  ])
})

it('policies are described in words', () => {
  const rules = [
    {
      name: 'per-user',
      by: ['user'],
      limit: { quota: 100, window: '1min', burst: 20 },
      tiers: { attribute: 'plan', limits: { pro: '1000/min', staff: 'unlimited' } },
      overrides: [{ when: { user: ['ann', 'bob'] }, limit: '5/10s' }],
    },
    {
      name: 'all',
      when: { route: '/api/*', peer: { network: '10.0.0.0/8' } },
      by: [],
      limit: { quota: 7, window: '1d', algorithm: 'fixed-window' },
      cost: 'tokens',
      shadow: true,
      onStoreFailure: 'open',
    },
  ] as unknown as Rule[]
  expect(describePolicy(parsePolicy({ name: 'api', rules }))).toEqual([
    'policy api',
    '  per-user  100/min, at most 20 at once (token bucket) for each user',
    '            5/10s (token bucket) when user is ann or bob',
    '            1000/min (token bucket) when plan is pro',
    '            unlimited when plan is staff',
    '  all       7/d (fixed window) for all together, when route is /api/* and peer is in 10.0.0.0/8',
    '            a request costs what tokens says; shadow: counted, never enforced; without the store: lets through',
  ])
})

it.each<[string, object, readonly string[]]>([
  ['a limit on trial', { candidate: '5/min' }, ['10/min', 'on trial: 5/min (token bucket)']],
  [
    'a lockout',
    { lockout: { after: 3, for: '10min' } },
    ['10/min', 'after 3 refusals the key is shut for 10min'],
  ],
  [
    'a lockout that grows',
    { lockout: { after: 3, for: '10min', grow: 2, upTo: '1day' } },
    ['10/min', 'the key is shut for 10min, 2 times as long each time, at most 1d'],
  ],
  [
    'stamps',
    { limit: { quota: 20_000, window: '1h', algorithm: 'sliding-log', stamps: 32 } },
    ['20000/h (sliding log of 32 stamps)'],
  ],
  [
    'a billing day',
    { limit: { quota: 9, window: 'month', startsOn: 15 } },
    ['9/month of the calendar in UTC from day 15 (fixed window)'],
  ],
  [
    'a first day of the week',
    { limit: { quota: 9, window: 'week', timeZone: 'UTC', startsOn: 'sunday' } },
    ['9/week of the calendar in UTC from sunday (fixed window)'],
  ],
  ['thresholds', { thresholds: [80, 100] }, ['10/min', 'events at 80 and 100 %']],
  ['a mark', { onExceed: 'mark' }, ['10/min', 'requests over it pass, marked']],
  ['slots', { limit: undefined, concurrency: 2, hold: '2s' }, ['2 at once, hold 2s for each user']],
  ['a budget', { hold: '2min' }, ['10/min', 'a budget: what is reserved comes free after 2min']],
  ['coordination', { coordination: 'leased' }, ['10/min', 'coordination: leased']],
  [
    'a month of the calendar',
    {
      limit: {
        quota: 9,
        window: 'month',
        timeZone: 'Europe/Berlin',
        algorithm: 'fixed-window',
      },
    },
    ['9/month of the calendar in Europe/Berlin (fixed window)'],
  ],
])('says %s in words', (_, fields, expected) => {
  const policy = parsePolicy({ name: 'api', rules: [rule(fields)] as unknown as Rule[] })
  const [, first, ...more] = describePolicy(policy)
  for (const [i, text] of expected.entries()) expect([first, ...more][i]).toContain(text)
})

describe('a rule that never applies', () => {
  const routes = { proxy: { routes: ['/exports/{id}', '/login'] } }
  const first = 'policies[0].rules[0]'

  it('since its route is not declared is found, with the one that was meant', () => {
    const text = fileOf([rule({ when: { route: '/export/{id}' } })], routes)
    const [warning] = reviewText(text, 'x').warnings
    expect(warning).toMatchObject({ code: 'undeclared-route', path: `${first}.when.route` })
    expect(warning!.message).toContain('did you mean /exports/{id}?')
  })

  it.each(['/login', '/api/*'])('since the reverse proxy knows no routes is found: %s', (route) => {
    const listeners = { proxy: { upstream: 'http://127.0.0.1:3000' } }
    const rules = [rule({ by: ['ip'], when: { route } })]
    expect(warnings(rules, { listeners, trustedProxies: ['10.0.0.0/8'] })).toEqual([
      `undeclared-route ${first}.when.route`,
    ])
  })

  it('since no declared route begins so is found', () => {
    expect(warnings([rule({ when: { route: '/export/*' } })], routes)).toEqual([
      `undeclared-route ${first}.when.route`,
    ])
    expect(warnings([rule({ when: { route: '/exports/*' } })], routes)).toEqual([])
  })

  it('since proxies hash the API key that it names is found, and the hash is reported', () => {
    const proxy = { attributes: { apiKey: 'x-api-key' } }
    const overrides = (apiKey: string) => [{ when: { apiKey }, limit: '9/s' }]
    const text = fileOf([rule({ overrides: overrides('sk_live_1') })], { proxy })
    const [warning] = reviewText(text, 'x').warnings
    expect(warning!.code).toBe('plain-api-key')
    expect(warning!.message).not.toContain('sk_live_1')
    expect(warning!.message).toContain(apiKeyHash('sk_live_1'))
    expect(warnings([rule({ overrides: overrides(apiKeyHash('sk_live_1')) })], { proxy })).toEqual(
      [],
    )
  })

  it('is not one for an address that proxies count whole', () => {
    const rules = [rule({ when: { ip: '2001:db8::1' } })]
    expect(warnings(rules, { proxy: { ipv6Prefix: 128 } })).toEqual([])
  })

  it('is not one that writes its route as /exports/:id', () => {
    expect(warnings([rule({ when: { route: '/exports/:id' } })], routes)).toEqual([])
    const colons = { proxy: { routes: ['/exports/:id'] } }
    expect(warnings([rule({ when: { route: '/exports/{id}' } })], colons)).toEqual([])
  })

  it('since the reverse proxy never sets its attribute is found', () => {
    const listeners = { proxy: { upstream: 'http://127.0.0.1:3000' } }
    expect(warnings([rule({ by: ['tenant'] })], { listeners })).toEqual([
      `unset-attribute ${first}.by[0]`,
    ])
    const proxy = { attributes: { tenant: 'x-tenant' } }
    expect(warnings([rule({ by: ['tenant'] })], { listeners, proxy })).toEqual([])
  })

  it('is not one whose attribute is like no other, or may be absent', () => {
    expect(warnings([rule({ by: ['warehouse'] })])).toEqual([])
    expect(warnings([rule({ when: { pln: ['pro', 'absent'] } })])).toEqual([])
  })
})
