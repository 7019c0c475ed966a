import { describe, expect, test } from 'vitest'
import { readDomain } from './read-domain.ts'

const read = (text: string) => readDomain(text, 'limits.yaml', 'fixed-window')

/** A domain with one descriptor of these lines. */
const one = (...lines: string[]): string =>
  ['domain: shop', 'descriptors:', '  - key: user', ...lines.map((line) => `    ${line}`), ''].join(
    '\n',
  )

describe('reported with its place is', () => {
  test.each([
    ['no YAML', 'domain: [', '1:10: not valid YAML'],
    ['nothing', '', '1:1: the file is empty; accepted: domain, descriptors'],
    ['a list', '- a', '1:1: the file is a list; accepted: domain, descriptors'],
    ['no domain', 'descriptors: []', '1:1: domain is missing'],
    ['an empty domain', 'domain: ""', '1:1: domain is missing'],
    [
      'an unknown field',
      one('limits: 3'),
      '4:5: descriptors[0].limits is unknown; accepted: key, value',
    ],
    ['no key', 'domain: a\ndescriptors:\n  - value: x', '3:5: descriptors[0].key is missing'],
    [
      'a descriptor that is text',
      'domain: a\ndescriptors: [x]',
      '2:15: descriptors[0] is "x"; accepted: key',
    ],
    [
      'descriptors that are no list',
      'domain: a\ndescriptors: x',
      '2:14: descriptors is "x"; accepted: a list',
    ],
    [
      'a value that is a list',
      one('value: [a]'),
      '4:12: descriptors[0].value is a list; accepted: text',
    ],
    [
      'no unit',
      one('rate_limit:', '  requests_per_unit: 1'),
      '5:7: descriptors[0].rate_limit.unit is empty; accepted: second, minute, hour, day, week, month, year',
    ],
    [
      'an unknown unit',
      one('rate_limit:', '  unit: fortnight', '  requests_per_unit: 1'),
      '5:13: descriptors[0].rate_limit.unit is "fortnight"',
    ],
    [
      'too many requests',
      one('rate_limit: { unit: day, requests_per_unit: 4294967296 }'),
      '4:49: descriptors[0].rate_limit.requests_per_unit is "4294967296"; accepted: a whole number from 0 to 4294967295',
    ],
    [
      'a variable for a number',
      one('rate_limit: { unit: day, requests_per_unit: "${RPS}" }'),
      'is "${RPS}"; accepted: a whole number from 0 to 4294967295 (descriptor files have no variables)',
    ],
    [
      'half a request',
      one('rate_limit: { unit: day, requests_per_unit: 1.5 }'),
      '4:49: descriptors[0].rate_limit.requests_per_unit is "1.5"',
    ],
    [
      'unlimited and a unit',
      one('rate_limit: { unlimited: true, unit: day }'),
      '4:42: descriptors[0].rate_limit.unit is "day"; accepted: no unit where unlimited is true',
    ],
    [
      'a flag that is none',
      one('shadow_mode: maybe'),
      '4:18: descriptors[0].shadow_mode is "maybe"; accepted: true or false',
    ],
    [
      'replaces without a name',
      one('rate_limit: { unit: day, requests_per_unit: 1, replaces: [{}] }'),
      '4:63: descriptors[0].rate_limit.replaces[0].name is missing',
    ],
    [
      'replaces itself',
      one('rate_limit: { name: a, unit: day, requests_per_unit: 1, replaces: [{ name: a }] }'),
      "descriptors[0].rate_limit.replaces[0].name is the limit's own name",
    ],
    [
      'the same descriptor twice',
      'domain: a\ndescriptors:\n  - { key: b, value: c }\n  - key: b\n    value: "c"',
      '4:5: the descriptor b=c is there twice',
    ],
  ])('%s', (_, text, expected) => {
    const { domain, problems } = read(text)
    expect(domain).toBeUndefined()
    expect(
      problems.map(({ line, column, message }) => `${line}:${column}: ${message}`).join('\n'),
    ).toContain(expected)
  })

  test('every mistake, all at once', () => {
    const { problems } = read(`descriptors:
  - key: a
    rate_limit: { unit: eon, requests_per_unit: -1 }
  - descriptors:
      - {}
`)
    expect(problems.map(({ line, path }) => `${line} ${path}`)).toEqual([
      '1 domain',
      '3 descriptors[0].rate_limit.requests_per_unit',
      '3 descriptors[0].rate_limit.unit',
      '4 descriptors[1].key',
      '5 descriptors[1].descriptors[0].key',
    ])
  })

  test('an alias that holds itself, which is no endless file', () => {
    expect(
      read('domain: a\ndescriptors: &all\n  - key: a\n    descriptors: *all').problems,
    ).toHaveLength(1)
  })

  test('a limit that another algorithm cannot keep', () => {
    const text = one('rate_limit: { unit: day, requests_per_unit: 20000 }')
    expect(read(text).problems).toEqual([])
    expect(readDomain(text, 'limits.yaml', 'sliding-log').problems).toMatchObject([
      { line: 4, column: 5, path: 'descriptors[0].rate_limit.requests_per_unit' },
    ])
  })
})

describe('a file with traps', () => {
  const limit = 'rate_limit: { unit: day, requests_per_unit: 1 }'
  test.each([
    ['blocks-all', one('rate_limit: { unit: day, requests_per_unit: 0 }')],
    ['blocks-all', one('rate_limit: { unit: day }')],
    ['depth-mismatch', one(limit, 'descriptors:', `  - { key: b, ${limit} }`)],
    ['metric-ignored', one(limit, 'detailed_metric: true')],
    ['metric-ignored', one(limit, 'value_to_metric: yes')],
    ['misplaced-field', one('rate_limit: { unit: day, requests_per_unit: 1, shadow_mode: true }')],
    ['mode-without-limit', one('shadow_mode: true', 'descriptors:', `  - { key: b, ${limit} }`)],
    ['no-limit', one()],
    ['address-value', one('value: 10.0.0.0/8', limit).replace('user', 'remote_address')],
    ['address-value', one('value: 2001:db8::/32', limit).replace('user', 'client_ip')],
    ['address-value', one('value: 2001:DB8:0::5', limit).replace('user', 'remote_address')],
    ['address-value', one('value: "192.0.2.7:80"', limit).replace('user', 'remote_address')],
    ['address-value', one('value: "[2001:db8::5]"', limit).replace('user', 'remote_address')],
    ['address-value', one('value: 10.0.0.1', limit).replace('user', 'masked_remote_address')],
    ['no-descriptors', '\ndomain: shop\ndescriptors: []\n'],
    ['no-descriptors', '\ndomain: shop\n'],
    ['pattern-value', one('value: "/api/.*"', limit)],
    ['pattern-value', one('value: ^/api', limit)],
    ['pattern-value', one('value: \\d+', limit)],
    ['plain-variable', one('value: ${TENANT}', limit)],
    ['plain-variable', one('value: a-${TENANT:-x}', limit)],
    ['plain-variable', one('value: $TENANT', limit)],
    ['plain-variable', one('value: "{{ .Values.tenant }}"', limit)],
    ['pattern-value', one('value: free,pro', limit)],
    ['pattern-value', one('value: free|pro', limit)],
    ['misspelled-key', one(limit).replace('user', 'remote_adress')],
    ['misspelled-key', one(limit).replace('user', 'generic_keys')],
    ['plain-variable', one(limit).replace('user', '${KEY}')],
    ['plain-variable', `\n${one(limit).replace('shop', '${DOMAIN}')}`],
    ['stray-space', one('value: "gold "', limit)],
    ['stray-space', one(limit).replace('user', '" user"')],
    ['stray-space', `\n${one(limit).replace('shop', '"shop "')}`],
    ['share-without-prefix', one('value: x', 'share_threshold: true', limit)],
    ['star-inside', one('value: a*b', limit)],
    ['unlimited-with-limit', one('rate_limit: { unlimited: true, requests_per_unit: 5 }')],
    [
      'prefix-never-reached',
      `domain: a\ndescriptors:\n  - { key: b, value: x*, ${limit} }\n  - { key: b, value: xy*, ${limit} }`,
    ],
    [
      'prefix-never-reached',
      `domain: a\ndescriptors:\n  - { key: b, ${limit} }\n  - { key: b, value: "*", ${limit} }`,
    ],
    [
      'hidden-by-value',
      `domain: a\ndescriptors:\n  - { key: b, value: x, ${limit} }\n  - { key: b, descriptors: [{ key: c, ${limit} }] }`,
    ],
  ])('is warned of with the code %s', (code, text) => {
    const { problems, warnings } = read(text)
    expect(problems).toEqual([])
    expect(warnings.map((warning) => warning.code)).toEqual([code])
    expect(warnings[0]?.line).toBeGreaterThan(1)
  })

  test('is warned of for nothing that is no trap', () => {
    const text = `domain: a
descriptors:
  - { key: b, value: x, descriptors: [{ key: c, ${limit} }] }
  - { key: b, value: y*, share_threshold: true, ${limit}, descriptors: [] }
  - { key: d, ${limit} }
  - { key: generic_key, value: 10.0.0.0/8, ${limit} }
  - { key: masked_remote_address, value: 10.0.0.0/8, ${limit} }
  - { key: remote_address, value: "2001:db8::5", ${limit} }
  - { key: remote_address, value: 192.0.2.7, ${limit} }
  - { key: remote_address, value: 192.0.*, ${limit} }
  - { key: recipient, value: mary/anne, ${limit} }
  - { key: package, value: com.example.*, ${limit} }
  - { key: path, value: "/price/$5", ${limit} }
  - { key: path, value: "/names/a b", ${limit} }
`
    expect(read(text).warnings).toEqual([])
  })
})

test('values stay as they are written: numbers, booleans, nothing', () => {
  const { domain } = read(`domain: 7
descriptors:
  - { key: a, value: 007, rate_limit: { unit: DAY, requests_per_unit: 1 } }
  - { key: a, value: true, rate_limit: { unit: Day, requests_per_unit: 1 } }
  - { key: a, value: ~, rate_limit: { unit: day, requests_per_unit: 1 } }
  - { key: a, value: "~", rate_limit: { unit: day, requests_per_unit: 1 } }
`)
  expect(domain?.domain).toBe('7')
  expect(domain?.descriptors.map(({ value }) => value)).toEqual(['007', 'true', undefined, '~'])
})

test.each(['user', 'api_key', 'PATH', 'database', 'tenant', 'remote_address', 'address'])(
  'the key %s is taken as it is',
  (key) => {
    const text = `domain: shop\ndescriptors: [{ key: ${key}, value: a b, rate_limit: { unit: day, requests_per_unit: 1 } }]\n`
    expect(read(text)).toMatchObject({ problems: [], warnings: [] })
  },
)

test('a misspelled field is named with the right one', () => {
  const { problems } = read('domain: shop\ndescriptor: []\n')
  expect(problems[0]!.message).toContain('did you mean descriptors?')
})
