import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attributeText, joinWithLengths, keyOf, LONGEST_VALUE, valuesIn } from './key.ts'

/** Values that try to look like something else: separators, hashes, lengths, inherited names. */
const hostile = fc.oneof(
  fc.constantFrom(
    '',
    ':',
    '~',
    '~:',
    '1:',
    '1:a',
    '1:a1:b',
    '~:1:a1:b',
    '__proto__',
    'constructor',
  ),
  fc.constantFrom('\ud800', '\udc00', '\ufffd', '😀', 'é', 'e\u0301', '\0', ' ', '\n', '{', '}'),
  fc.constantFrom(...['a', 'b'].map((letter) => keyOf([letter], true))),
  fc.constantFrom('a'.repeat(128), 'a'.repeat(129), 'b'.repeat(10_000), 'b'.repeat(10_001)),
  fc.string({ unit: fc.constantFrom('1', '2', ':', '~', 'a'), maxLength: 8 }),
  fc.string({ unit: 'binary', maxLength: 200 }),
  // Single code units, so that surrogates come alone.
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
)
const lists = fc.array(hostile, { maxLength: 4 })
type Attributes = Readonly<Record<string, unknown>>

describe('attributeText', () => {
  it.each<[Attributes, string | undefined]>([
    [{ user: 'ann' }, 'ann'],
    [{ user: ' ' }, ' '],
    [{ user: 42 }, '42'],
    [{ user: 0 }, '0'],
    [{ user: -0 }, '0'],
    [{ user: 1e21 }, '1e+21'],
    [{ user: false }, 'false'],
    [{ user: true }, 'true'],
    [{ user: '' }, undefined],
    [{ user: null }, undefined],
    [{ user: undefined }, undefined],
    [{}, undefined],
    [Object.create(null) as Attributes, undefined],
  ])('of user in %j is %j', (attributes, text) => {
    expect(attributeText(attributes, 'user')).toBe(text)
  })

  it.each([
    ['an object', {}, '{}'],
    ['a list', ['a'], '["a"]'],
    ['a date', new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ['a function', () => 'x', 'function'],
    ['a symbol', Symbol('x'), 'symbol'],
    ['a bigint', 5n, '5n'],
    ['NaN', Number.NaN, 'NaN'],
    ['Infinity', Number.POSITIVE_INFINITY, 'Infinity'],
    ['a boxed number', Object(5), '5'],
  ])('refuses %s', (_, value, shown) => {
    expect(() => attributeText({ plan: value }, 'plan')).toThrow(
      expect.objectContaining({
        code: 'invalid-attributes',
        message: `attribute "plan" is ${shown}; accepted: a string, a finite number, a boolean, or nothing`,
      }),
    )
  })

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    'does not find %s in an object that has none of its own',
    (name) => {
      expect(attributeText({}, name)).toBeUndefined()
      expect(attributeText(JSON.parse(`{ "${name}": "own" }`) as Attributes, name)).toBe('own')
    },
  )

  it('does not take a value from a prototype', () => {
    expect(
      attributeText(Object.create({ plan: 'enterprise' }) as Attributes, 'plan'),
    ).toBeUndefined()
  })
})

describe('keyOf', () => {
  it.each<[values: string[], key: string]>([
    [['user:42'], 'user:42'],
    [['2001:db8::1'], '2001:db8::1'],
    [['a'.repeat(128)], 'a'.repeat(128)],
    [['acme', 'GET'], '~:4:acme3:GET'],
    [['', ''], '~:0:0:'],
    [[], '~:'],
  ])('of %j is %j', (values, key) => {
    expect(keyOf(values)).toBe(key)
  })

  it('shows nothing of a value that is hashed', () => {
    expect(keyOf(['secret'], true)).toMatch(/^~[\w-]{43}$/)
    expect(keyOf(['secret', 'x'], true)).toMatch(/^~:44:~[\w-]{43}44:~[\w-]{43}$/)
  })

  it('is short however long the value is', () => {
    expect(keyOf(['a'.repeat(129)])).toMatch(/^~[\w-]{43}$/)
    expect(keyOf(['a'.repeat(LONGEST_VALUE)])).toMatch(/^~[\w-]{43}$/)
  })

  it.each([true, false])('refuses a value beyond the longest (hash %s)', (hash) => {
    const value = 'a'.repeat(LONGEST_VALUE + 1)
    expect(() => keyOf([value], hash)).toThrow(
      expect.objectContaining({
        code: 'invalid-key',
        message: expect.stringMatching(/has 65537 characters; accepted: at most 65536$/),
      }),
    )
  })

  it.each([true, false])('is never the same for two different lists (hash %s)', (hash) => {
    fc.assert(
      fc.property(lists, lists, (one, other) => {
        const equal = one.length === other.length && one.every((value, i) => value === other[i])
        expect(keyOf(one, hash) === keyOf(other, hash)).toBe(equal)
      }),
      { numRuns: 2000 },
    )
  })

  it('never takes a plain value for the hash of another', () => {
    fc.assert(
      fc.property(hostile, hostile, (plain, hashed) => {
        fc.pre(plain !== hashed)
        expect(keyOf([plain], false)).not.toBe(keyOf([hashed], true))
        expect(keyOf([keyOf([hashed], true)], false)).not.toBe(keyOf([hashed], true))
      }),
    )
  })

  it('gives different keys to all lists that one text can be cut into', () => {
    const text = '1:a~:2'
    const keys = new Set<string>()
    const cuts = 2 ** (text.length - 1)
    for (let cut = 0; cut < cuts; cut++) {
      const values = ['']
      for (const [i, character] of text.split('').entries()) {
        values[values.length - 1] += character
        if (cut & (1 << i)) values.push('')
      }
      keys.add(keyOf(values))
    }
    expect(keys.size).toBe(cuts)
  })
})

describe('joinWithLengths', () => {
  it('never gives one text for two lists', () => {
    fc.assert(
      fc.property(lists, lists, (one, other) => {
        const equal = one.length === other.length && one.every((value, i) => value === other[i])
        expect(joinWithLengths(one) === joinWithLengths(other)).toBe(equal)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('valuesIn', () => {
  it('gives the values of a key back, those that are hashed as their hashes', () => {
    fc.assert(
      fc.property(lists, (values) => {
        const standing = values.map((value) => keyOf([value]))
        expect(valuesIn(keyOf(values))).toEqual(standing)
      }),
    )
  })

  it.each(['~:1', '~:x:a', '~:2:a', '~:01:a', '~:1:ab', '~:99999999:a'])(
    'knows that %s is no key',
    (text) => expect(valuesIn(text)).toBeUndefined(),
  )
})
