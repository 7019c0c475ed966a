import { describe, expect, test } from 'vitest'
import type { DescriptorConfig } from './domain-config.ts'
import { descriptorTree } from './tree.ts'
import { rateInUnits } from './unit.ts'

const limit = (name: string): Pick<DescriptorConfig, 'rateLimit'> => ({
  rateLimit: { name, unit: 'hour', requestsPerUnit: 1 },
})

const tree = descriptorTree(
  {
    domain: 'shop',
    descriptors: [
      { key: 'path', value: '/a', ...limit('exact') },
      {
        key: 'path',
        value: '/a*',
        ...limit('first prefix'),
        descriptors: [{ key: 'user', ...limit('below') }],
      },
      { key: 'path', value: '/ab*', ...limit('second prefix') },
      { key: 'path', ...limit('any'), descriptors: [{ key: 'tenant', ...limit('per tenant') }] },
      {
        key: 'file',
        value: 'x/*',
        shareThreshold: true,
        descriptors: [{ key: 'user', ...limit('shared') }],
      },
      { key: 'a_b', value: 'c', ...limit('a_b=c') },
      { key: 'a', value: 'b_c', ...limit('a=b_c') },
      { key: '__proto__', value: 'constructor', ...limit('hostile') },
    ],
  },
  { domain: 'shop', algorithm: 'fixed-window' },
)

function match(...entries: [string, string][]) {
  return tree.match(entries.map(([key, value]) => ({ key, value })))
}

describe('the way of a descriptor', () => {
  test.each<[string, [string, string][], string | undefined]>([
    ['the value itself goes first', [['path', '/a']], 'exact'],
    ['then values with a star, in the order of the file', [['path', '/abc']], 'first prefix'],
    ['then the key alone', [['path', '/x']], 'any'],
    ['an empty value is a value', [['path', '']], 'any'],
    [
      'below a star',
      [
        ['path', '/abc'],
        ['user', '1'],
      ],
      'below',
    ],
    [
      'the first choice is final',
      [
        ['path', '/a'],
        ['tenant', '1'],
      ],
      undefined,
    ],
    [
      'and so is a star',
      [
        ['path', '/abc'],
        ['tenant', '1'],
      ],
      undefined,
    ],
    [
      'below the key alone',
      [
        ['path', '/x'],
        ['tenant', '1'],
      ],
      'per tenant',
    ],
    ['too short', [['file', 'x/1']], undefined],
    [
      'too long',
      [
        ['path', '/a'],
        ['user', '1'],
        ['more', '1'],
      ],
      undefined,
    ],
    ['keys and values do not run together', [['a_b', 'c']], 'a_b=c'],
    ['nor the other way round', [['a', 'b_c']], 'a=b_c'],
    ['names of the language are names', [['__proto__', 'constructor']], 'hostile'],
    ['and nothing else', [['constructor', 'name']], undefined],
    ['nothing at all', [], undefined],
  ])('%s', (_, entries, name) => {
    expect(match(...entries)?.rule.name).toBe(name)
  })
})

describe('counts', () => {
  const keyOf = (...entries: [string, string][]): string => match(...entries)!.key

  test('are distinguished by every value', () => {
    const keys = [
      keyOf(['path', '/abc'], ['user', '1']),
      keyOf(['path', '/abc'], ['user', '2']),
      keyOf(['path', '/ab'], ['user', 'c1']),
      keyOf(['path', '/a1:1'], ['user', '']),
      keyOf(['path', '/x']),
      keyOf(['path', '']),
      keyOf(['path', '~']),
      keyOf(['path', '~~']),
    ]
    expect(new Set(keys).size).toBe(keys.length)
  })

  test('are shared where a star says so, by everything else apart', () => {
    expect(keyOf(['file', 'x/1'], ['user', '1'])).toBe(keyOf(['file', 'x/2'], ['user', '1']))
    expect(keyOf(['file', 'x/1'], ['user', '1'])).not.toBe(keyOf(['file', 'x/1'], ['user', '2']))
  })

  test('have short names whatever the values are', () => {
    expect(keyOf(['path', 'x'.repeat(100_000)]).length).toBeLessThan(64)
    expect(keyOf(['path', 'x'.repeat(100_000)])).not.toBe(keyOf(['path', 'x'.repeat(100_001)]))
  })

  test('belong to keys, unit and algorithm, not to the quota or to a rule of one value', () => {
    const [exact, any] = [match(['path', '/a'])!.rule, match(['path', '/x'])!.rule]
    expect(exact.placed?.space).toBe(any.placed?.space)
    const day = { name: 'day', number: 4, window: 86_400_000 }
    expect(any.override(7, day).space).not.toBe(any.placed?.space)
  })
})

test.each([
  [5, 1000, 5, 'second'],
  [5, 10_000, 30, 'minute'],
  [5, 7000, 42, 'minute'],
  [100, 500, 200, 'second'],
  [1, 90_000, 40, 'hour'],
  [1000, 604_800_000, 1000, 'week'],
  [1, 864_000_000, 3, 'month'],
  [1, 40 * 86_400_000, 9, 'year'],
  [1, 400 * 86_400_000, 0, 'year'],
  [0, 1000, 0, 'second'],
])('%i per %i ms is shown as %i per %s', (quota, window, requests, name) => {
  const shown = rateInUnits(quota, window)
  expect([shown.requests, shown.unit.name]).toEqual([requests, name])
})
