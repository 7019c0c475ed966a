import { availableParallelism } from 'node:os'
import { describe, expect, it } from 'vitest'
import { problemText } from './problem.ts'
import { readConfig } from './read-config.ts'

const policy = `policies:
  - name: api
    rules:
      - { name: per-user, by: [user], limit: 100/min }
`

/** The mistakes as they are printed. */
const mistakes = (text: string, environment = {}) =>
  readConfig(text, 'sluice.yaml', environment).problems.map(problemText)

const configOf = (text: string, environment = {}) => {
  const { config, problems } = readConfig(text, 'sluice.yaml', environment)
  expect(problems).toEqual([])
  return config!
}

describe('a file', () => {
  it('needs nothing but policies', () => {
    expect(configOf(policy)).toMatchObject({
      policies: [{ name: 'api', rules: [{ limit: { quota: 100, window: 60_000 } }] }],
      store: { kind: 'memory', maxKeys: 1_000_000 },
      listeners: { http: { host: '127.0.0.1', port: 8080, maxBody: 262_144 } },
      trustedProxies: [],
      shutdown: { delay: 1000, patience: 10_000 },
      workers: 1,
      log: 'info',
    })
    expect(configOf(policy).listeners.grpc).toBeUndefined()
  })

  it('may be JSON, also indented by tabs', () => {
    const value = {
      policies: [{ name: 'api', rules: [{ name: 'all', by: [], limit: '5/s' }] }],
      listeners: { http: { port: 0 } },
    }
    for (const indent of ['', '  ', '\t']) {
      const config = configOf(JSON.stringify(value, undefined, indent))
      expect(config.listeners.http.port).toBe(0)
      expect(config.policies[0]!.name).toBe('api')
    }
  })

  it.each([
    ['store: memory', { kind: 'memory' }],
    ['store: { kind: memory, maxKeys: 5 }', { kind: 'memory', maxKeys: 5 }],
    ['store: redis://u:p@h:1/2', { kind: 'redis', url: 'redis://u:p@h:1/2', prefix: 'sl:' }],
    [
      "store: { kind: redis, url: 'rediss://h', prefix: 'x:', timeout: 15ms, cluster: true }",
      { kind: 'redis', url: 'rediss://h', prefix: 'x:', timeout: 15, cluster: true },
    ],
    [
      "store: { kind: redis, url: 'redis://h', leaseLife: 5s, syncInterval: 50 }",
      { kind: 'redis', url: 'redis://h', leaseLife: 5000, syncInterval: 50 },
    ],
  ])('says where counts live: %s', (line, store) => {
    expect(configOf(`${policy}${line}\n`).store).toMatchObject(store)
  })

  it('may use anchors', () => {
    const text = `policies:
  - name: a
    rules: &rules
      - { name: per-user, by: [user], limit: 1/s }
  - name: b
    rules: *rules
`
    expect(configOf(text).policies.map(({ rules }) => rules[0]!.name)).toEqual([
      'per-user',
      'per-user',
    ])
  })
})

describe('a mistake is shown where it was made', () => {
  it.each([
    ['', 'sluice.yaml:1:1: the file is empty; accepted: an object with policies'],
    ['hello', 'sluice.yaml:1:1: the file is "hello"; accepted: an object with policies'],
    [
      'store: memory\n',
      'sluice.yaml:1:1: policies is missing; accepted: a list of at least one policy',
    ],
    ['policies: []\n', 'sluice.yaml:1:11: policies is []; accepted: a list of at least one policy'],
    [
      `${policy}port: 1\n`,
      'sluice.yaml:5:1: port is not a known field; did you mean listeners.http.port?; accepted: policies, store, listeners',
    ],
    [
      `${policy}listeners:\n  http:\n    port: 70000\n`,
      'sluice.yaml:7:11: listeners.http.port is 70000; accepted: a whole number from 0 to 65535',
    ],
    [
      `${policy}listeners:\n  http:\n    prot: 1\n`,
      'sluice.yaml:7:5: listeners.http.prot is not a known field; did you mean port?; accepted: host, port',
    ],
    [
      `${policy}listeners: { http: { headersTimeout: soon } }\n`,
      `sluice.yaml:5:38: listeners.http.headersTimeout is "soon"; accepted: milliseconds, or a string such as '500ms'`,
    ],
    [
      `${policy}store: postgres://x\n`,
      'sluice.yaml:5:8: store.url is not a URL; accepted: a URL such as',
    ],
    [
      `${policy}store: { kind: file }\n`,
      `sluice.yaml:5:16: store.kind is "file"; accepted: 'memory', a Redis URL, or an object`,
    ],
    [
      `${policy}store: { kind: redis, url: 'redis://h', prefix: 'a{b' }\n`,
      'sluice.yaml:5:49: store.prefix is "a{b"; accepted: a string without { and }',
    ],
    [
      `${policy}trustedProxies: 10.0.0.0/8\n`,
      'sluice.yaml:5:17: trustedProxies is "10.0.0.0/8"; accepted: a list of networks',
    ],
    [
      `${policy}trustedProxies: [localhost]\n`,
      'sluice.yaml:5:18: trustedProxies[0] is "localhost"; accepted: a network such as',
    ],
    ...['login', '/api/*', '/a/:id?', '/a/x-{id}', 'POST /a', '/s?q=1'].map((route) => [
      `${policy}proxy: { routes: ['${route}'] }\n`,
      `sluice.yaml:5:19: proxy.routes[0] is "${route}"; accepted: a pattern such as '/orders/{id}'`,
    ]),
    [
      `${policy}proxy: { routes: [/a/:id, '/a/{id}', '/a/{name}'] }\n`,
      'sluice.yaml:5:38: proxy.routes[2] is "/a/{name}", which matches the same paths as /a/{id} in front of it; accepted: one of them',
    ],
    [
      `${policy}trustedProxies: true\n`,
      'sluice.yaml:5:17: trustedProxies is true; accepted: a list of networks such as [10.0.0.0/8], those of your proxies',
    ],
    [
      `${policy}headers: draft-8\n`,
      'sluice.yaml:5:10: headers is "draft-8"; accepted: a list of header dialects such as [draft-8]; known: ',
    ],
    [
      `log: "info\n${policy}`,
      'sluice.yaml:1:6: not valid YAML: the string that begins here has no closing quote',
    ],
    [
      policy.replace('name: api', "name: 'api"),
      'sluice.yaml:2:11: not valid YAML: the string that begins here has no closing quote',
    ],
    [
      `${policy}listeners:\n  http:\n    port: \${SLUICE_PORT}\n`,
      'sluice.yaml:7:11: listeners.http.port: the variable SLUICE_PORT is not set; set it, or write a default: ${SLUICE_PORT:-value}',
    ],
    [
      `${policy}listeners: { http: { port: \${PORT} } }\nworkers: 1\n`,
      'sluice.yaml:5:28: ${PORT} needs quotes inside { } and [ ]: write "${PORT}"; for a number',
    ],
    [
      policy.replace('[user]', '["${WHO}"]'),
      'sluice.yaml:4:32: policies[0].rules[0].by[0]: the variable WHO is not set',
    ],
    [
      `${policy}workers: many\n`,
      `sluice.yaml:5:10: workers is "many"; accepted: a whole number from 1 to 256, or 'auto' for one`,
    ],
    [
      `${policy}workers: 4\n`,
      'sluice.yaml:5:10: workers is 4; several workers need a store that they share',
    ],
    [`${policy}workers: 0\n`, 'sluice.yaml:5:10: workers is 0; accepted: a whole number from 1'],
    [
      `${policy}log: loud\n`,
      'sluice.yaml:5:6: log is "loud"; accepted: debug, info, warn, error, silent',
    ],
    [
      policy.replace('limit: 100/min', 'limt: 100/min'),
      'sluice.yaml:4:39: policies[0].rules[0].limt is not a known field; did you mean limit?',
    ],
    [
      policy.replace('100/min', 'often'),
      'sluice.yaml:4:46: policies[0].rules[0].limit is "often"; accepted: a string such as',
    ],
    [
      policy.replace('name: api', 'name: ""'),
      'sluice.yaml:2:11: policies[0].name is ""; accepted: 1 to 128 printable',
    ],
    [
      'policies:\n  - 5\n',
      'sluice.yaml:2:5: policies[0] is 5; accepted: an object with name and rules',
    ],
    [
      `${policy}  - name: api\n    rules: [{ name: all, by: [], limit: 1/s }]\n`,
      'sluice.yaml:5:11: policies[1].name is "api", the name of policies[0]; accepted: a name of its own',
    ],
    [`${policy}store: [\n`, 'sluice.yaml:6:1: not valid YAML: '],
    [
      `${policy}store: memory\nstore: memory\n`,
      'sluice.yaml:6:1: not valid YAML: Map keys must be unique',
    ],
    [`${policy}store: *nothing\n`, 'sluice.yaml:1:1: not valid YAML: Unresolved alias'],
    [`${policy}store: !!js/function x\n`, 'sluice.yaml:5:8: not valid YAML: Unresolved tag'],
  ])('%#', (text, sentence) => {
    expect(mistakes(text).map((line) => line.slice(0, sentence.length))).toContain(sentence)
  })

  it('and a variable without quotes hides what follows from it', () => {
    const text = `store: { kind: redis, url: \${URL:-redis://h} }\n${policy}listeners: { http: { port: \${PORT} } }\n`
    expect(mistakes(text).map((line) => line.split(' needs')[0])).toEqual([
      'sluice.yaml:1:28: ${URL:-redis://h}',
      'sluice.yaml:6:28: ${PORT}',
    ])
  })

  it('and all of them at once, in the order of the file', () => {
    const text = `log: loud
policies:
  - name: api
    rules:
      - { name: a, by: [user], limit: often }
      - { name: b, by: user, limit: 1/s }
listeners: { http: { port: x } }
`
    expect(mistakes(text).map((line) => line.split(' ')[1])).toEqual([
      'log',
      'policies[0].rules[0].limit',
      'policies[0].rules[1].by',
      'listeners.http.port',
    ])
  })

  it('also when two listeners want one port, unless the system chooses it', () => {
    const withPorts = (http: number, admin: number) =>
      `policies: [{ name: api, rules: [{ name: all, by: [], limit: 1/s }] }]\nlisteners:\n  http: { port: ${http} }\n  admin: { port: ${admin} }\n`
    const { problems } = readConfig(withPorts(9000, 9000), 'sluice.yaml')
    expect(problems.map(problemText)).toEqual([
      'sluice.yaml:4:18: listeners.admin.port is 9000, the port of listeners.http; accepted: a port of its own',
    ])
    expect(readConfig(withPorts(0, 0), 'sluice.yaml').problems).toEqual([])
    const environment = { SLUICE_GRPC_PORT: '9000' }
    const { problems: ofBoth } = readConfig(withPorts(9000, 1), 'sluice.yaml', environment)
    expect(ofBoth.map(({ message }) => message)).toEqual([
      'listeners.grpc.port is 9000, the port of listeners.http; accepted: a port of its own',
    ])
  })

  it('also in a policy with names that need quotes', () => {
    const text = `policies:
  - name: api
    rules:
      - name: a
        by: [user]
        limit: 1/s
        when:
          x-plan: { equal: free }
`
    expect(mistakes(text)[0]).toMatch(
      /^sluice\.yaml:8:\d+: policies\[0\]\.rules\[0\]\.when\["x-plan"\]/,
    )
  })
})

describe('a message says what was meant', () => {
  it.each([
    [`${policy}listener: {}\n`, 'listener is not a known field; did you mean listeners?;'],
    [`${policy}listeners: { http: { prt: 1 } }\n`, 'did you mean port?'],
    [`${policy}port: 80\n`, 'port is not a known field; did you mean listeners.http.port?;'],
    [`${policy}routes: []\n`, 'routes is not a known field; did you mean proxy.routes?;'],
    [`${policy}rules: []\n`, 'rules is not a known field; did you mean policies[0].rules?;'],
    [`${policy}redis: x\n`, 'redis is not a known field; did you mean store?;'],
    [`${policy}constructor: x\n`, 'constructor is not a known field; accepted:'],
    [
      'policies: [{ name: a, headers: draft-8, rules: [] }]',
      'policies[0].headers is not a known field; did you mean headers at the top of the file?; accepted: name, rules',
    ],
    [
      'policies: [{ name: a, routes: [], rules: [] }]',
      'policies[0].routes is not a known field; did you mean proxy.routes?',
    ],
    [
      'policies: [{ name: a, rules: [{ name: r, by: [ip], limit: 5/s, algorithm: gcra }] }]',
      'policies[0].rules[0].algorithm is not a known field; did you mean limit: { algorithm: … }?',
    ],
    ['', 'the file is empty; accepted: an object with policies'],
    [
      'domain: shop\ndescriptors: []\n',
      "this file has descriptors of Envoy's rate limit service; name it in a configuration",
    ],
  ])('%j', (text, part) => {
    expect(mistakes(text).join()).toContain(part)
  })
})

describe('a hostile file', () => {
  const bomb = ['a0: &a0 [x, x]']
  for (let i = 1; i < 30; i++) bomb.push(`a${i}: &a${i} [*a${i - 1}, *a${i - 1}]`)

  it.each([
    ['a list that doubles thirty times', bomb.join('\n')],
    ['ten thousand open brackets', '['.repeat(10_000)],
    ['more than a megabyte', `# ${'x'.repeat(2 ** 20)}\n${policy}`],
    ['own prototypes', '__proto__: { policies: [] }\nconstructor: 5\n'],
    ['a name that is a list', '? [a, b]\n: 5\n'],
    ['bytes that are no text', '\u0000\u0001\uFFFD'],
  ])('is refused like any other: %s', (_, text) => {
    expect(mistakes(text).length).toBeGreaterThan(0)
  })

  it('never has its password shown', () => {
    const texts = [
      `${policy}store: { kind: redis, url: 'http://u:hunter2@h' }\n`,
      `${policy}store: mysql://u:hunter2@h\n`,
    ]
    for (const text of texts) expect(mistakes(text).join()).not.toContain('hunter2')
    expect(mistakes(policy, { REDIS_URL: 'http://u:hunter2@h' }).join()).not.toContain('hunter2')
  })
})

describe('a hostile file', () => {
  it('with more values than any policy needs is not parsed', () => {
    const wide = `a: [${'1,'.repeat(300_000)}1]\n`
    expect(mistakes(wide)).toEqual([
      'sluice.yaml:1:1: the file holds too many values; accepted: at most 100000',
    ])
  })

  it('of nothing but quotes is not parsed', () => {
    const { problems } = readConfig('"'.repeat(900_000), 'sluice.yaml')
    expect(problems.map(({ message }) => message)).toEqual([
      'the file holds too many values; accepted: at most 100000',
    ])
  })

  it('with thousands of faults of syntax is reported in short', () => {
    const { problems } = readConfig('"'.repeat(20_000), 'sluice.yaml')
    expect(problems.length).toBe(100)
  })

  it('with tens of thousands of unknown fields is reported in short', () => {
    const fields = Array.from({ length: 40_000 }, (_, i) => `x${i}: 1`).join('\n')
    expect(mistakes(`${policy}${fields}\n`).length).toBeLessThanOrEqual(100)
  })

  it('with a key twice is refused at the second', () => {
    expect(mistakes(`${policy}log: info\nlog: info\n`)).toEqual([
      'sluice.yaml:6:1: not valid YAML: Map keys must be unique',
    ])
  })
})

describe('the environment', () => {
  it.each([
    [{ REDIS_URL: 'redis://h:1' }, { store: { kind: 'redis', url: 'redis://h:1', timeout: 100 } }],
    [{ REDIS_URL: '' }, { store: { kind: 'memory' } }],
    [{ SLUICE_REDIS_PREFIX: 'x:' }, { store: { kind: 'memory' } }],
    [
      { REDIS_URL: 'redis://h', SLUICE_REDIS_PREFIX: 'x:', SLUICE_REDIS_TIMEOUT: '15ms' },
      { store: { prefix: 'x:', timeout: 15 } },
    ],
    [{ SLUICE_REDIS_TIMEOUT: '15' }, { store: { kind: 'memory' } }],
    [{ SLUICE_HTTP_HOST: '0.0.0.0' }, { listeners: { http: { host: '0.0.0.0', port: 8080 } } }],
    [{ SLUICE_HTTP_PORT: '9090' }, { listeners: { http: { host: '127.0.0.1', port: 9090 } } }],
    [{ SLUICE_GRPC_PORT: '0' }, { listeners: { grpc: { host: '127.0.0.1', port: 0 } } }],
    [{ SLUICE_SHUTDOWN_DELAY: '5s' }, { shutdown: { delay: 5000, patience: 10_000 } }],
    [{ SLUICE_WORKERS: '4', REDIS_URL: 'redis://h' }, { workers: 4 }],
    [{ SLUICE_WORKERS: '1' }, { workers: 1 }],
    [
      { SLUICE_WORKERS: 'auto', REDIS_URL: 'redis://h' },
      { workers: Math.min(availableParallelism(), 256) },
    ],
    [{ SLUICE_WORKERS: 'auto' }, { workers: 1 }],
    [{ SLUICE_LOG: 'debug' }, { log: 'debug' }],
  ])('has the last word: %o', (environment, expected) => {
    expect(configOf(policy, environment)).toMatchObject(expected)
  })

  it.each([
    [{ SLUICE_HTTP_PORT: '65536' }, 'environment: SLUICE_HTTP_PORT is "65536"; accepted: a whole'],
    [{ SLUICE_REDIS_TIMEOUT: 'soon' }, 'environment: SLUICE_REDIS_TIMEOUT is "soon"; accepted: a'],
    [{ SLUICE_WORKERS: '1e2' }, 'environment: SLUICE_WORKERS is "1e2"; accepted: a whole number'],
    [{ SLUICE_WORKERS: '257' }, 'environment: SLUICE_WORKERS is "257"; accepted: a whole number'],
    [{ SLUICE_LOG: 'loud' }, 'environment: SLUICE_LOG is "loud"; accepted: debug, info'],
    [{ REDIS_URL: 'localhost' }, 'environment: REDIS_URL is not a Redis URL; accepted: a URL'],
  ])('is checked: %o', (environment, sentence) => {
    expect(mistakes(policy, environment).map((line) => line.slice(0, sentence.length))).toEqual([
      sentence,
    ])
  })
})

describe('a variable of the environment in a value', () => {
  const yaml = (line: string): string => `${policy}${line}\n`

  it.each([
    ['a number without quotes', 'workers: ${N}', { N: '1' }, { workers: 1 }],
    ['its default', 'workers: ${N:-1}', {}, { workers: 1 }],
    ['its default when it is empty', 'log: ${LEVEL:-warn}', { LEVEL: '' }, { log: 'warn' }],
    [
      'part of a string',
      "store: 'redis://${HOST:-localhost}:${PORT:-6379}/0'",
      { HOST: 'redis.internal' },
      { store: { url: 'redis://redis.internal:6379/0' } },
    ],
    [
      'a string in quotes',
      "trustedProxies: ['${NET}']",
      { NET: '10.0.0.0/8' },
      { trustedProxies: ['10.0.0.0/8'] },
    ],
    [
      '$${ as it stands',
      "listeners: { admin: { tokenFile: '$${NET}' } }",
      {},
      { listeners: { admin: { tokenFile: '${NET}' } } },
    ],
  ])('is %s', (_, line, environment, expected) => {
    expect(readConfig(yaml(line), 'sluice.yaml', environment)).toMatchObject({
      problems: [],
      config: expected,
    })
  })

  it('cannot add fields to the file', () => {
    const { problems } = readConfig(yaml('log: ${LEVEL}'), 'sluice.yaml', {
      LEVEL: 'info\nworkers: 4',
    })
    expect(problems.map(({ path }) => path)).toEqual(['log'])
  })

  it('is not put into keys', () => {
    const { problems } = readConfig(yaml('${LOG}: info'), 'sluice.yaml', { LOG: 'log' })
    expect(problems[0]!.message).toContain('${LOG} is a name, and variables are read in values')
  })

  it.each(['${LOG-info}', '${LOG:=info}', '${}', '${LOG', 'a ${LOG:?x} b'])(
    'is refused when it is written in another way: %s',
    (text) => {
      const { problems } = readConfig(yaml(`log: "${text}"`), 'sluice.yaml', { LOG: 'info' })
      expect(problems.map(({ path }) => path)).toEqual(['log'])
      expect(problems[0]!.message).toContain(
        'is no reference to a variable; accepted: ${NAME}, ${NAME:-default}',
      )
    },
  )

  it.each(['007', '1.0', '1e3', '0x10', '+49', 'True'])(
    'is the text that it holds, although YAML would read another number: %s',
    (plan) => {
      const text = `policies:
  - name: api
    rules:
      - name: paid
        by: [user]
        limit: 1/s
        when:
          plan: \${PLAN}
`
      const { config } = readConfig(text, 'sluice.yaml', { PLAN: plan })
      expect(config!.policies[0]!.rules[0]!.when).toEqual({ plan })
    },
  )
})
