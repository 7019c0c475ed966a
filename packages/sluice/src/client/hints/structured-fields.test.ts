import fc from 'fast-check'
import * as oracle from 'structured-headers'
import { describe, expect, it } from 'vitest'
import { parseDictionary, parseList, type BareItem, type Member } from './structured-fields.ts'

/** A parsed value in a form that both parsers can be brought into. */
const ours = (item: BareItem | Member): unknown => {
  if (item.kind === 'list') return (item.value as readonly Member[]).map(withParameters)
  return [item.kind === 'integer' || item.kind === 'decimal' ? 'number' : item.kind, item.value]
}
const withParameters = (member: Member): unknown => [
  ours(member),
  [...member.parameters].map(([key, value]) => [key, ours(value)]),
]
const theirs = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(theirItem)
  if (typeof value === 'number') return ['number', value]
  if (typeof value === 'string') return ['string', value]
  if (typeof value === 'boolean') return ['boolean', value]
  if (value instanceof oracle.Token) return ['token', value.toString()]
  if (value instanceof Date) return ['date', value.getTime() / 1000]
  if (value instanceof oracle.DisplayString) return ['display', value.toString()]
  return ['bytes', undefined]
}
const theirItem = ([value, parameters]: [unknown, Map<string, unknown>]): unknown => [
  theirs(value),
  [...parameters].map(([key, item]) => [key, theirs(item)]),
]
const attempt = <T>(parse: () => T): T | undefined => {
  try {
    return parse()
  } catch {
    return undefined
  }
}
/** Byte sequences are kept as they are written, so only their place is compared. */
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? null), (_, inner: unknown) =>
    Array.isArray(inner) && inner[0] === 'bytes' ? ['bytes'] : inner,
  )

// Without dates, to which the other parser takes no parameters.
const alphabet = [
  'a',
  'b',
  '*',
  'q',
  'r',
  '1',
  '0',
  '9',
  '.',
  '-',
  '"',
  '\\',
  ';',
  '=',
  ',',
  ' ',
  '\t',
  '(',
  ')',
  '?',
  ':',
  '%',
  '/',
  'A',
  'é',
  '15',
]
const pieces = fc.constantFrom(
  ...alphabet,
  '"a";q=1',
  'r=2',
  '"x\\"y"',
  '?1',
  ';w=60',
  '123456789012345',
  '1.5',
  ':YQ==:',
  'tok/en',
  '(1 2)',
  ', ',
)
const field = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(''))

describe('structured fields', () => {
  it('lists are read as an independent parser reads them', () => {
    let usable = 0
    fc.assert(
      fc.property(field, (text) => {
        const expected = attempt(() => (oracle.parseList(text) as never[]).map(theirItem))
        const found = parseList(text)?.map(withParameters)
        if (found !== undefined && found.length > 0) usable += 1
        expect(plain(found)).toEqual(plain(expected))
      }),
      { numRuns: 10_000, seed: 1 },
    )
    expect(usable).toBeGreaterThan(500)
  })

  it('dictionaries are read as an independent parser reads them', () => {
    fc.assert(
      fc.property(field, (text) => {
        const expected = attempt(() =>
          [...oracle.parseDictionary(text)].map(([key, item]) => [key, theirItem(item as never)]),
        )
        const parsed = parseDictionary(text)
        const found = parsed && [...parsed].map(([key, member]) => [key, withParameters(member)])
        expect(plain(found)).toEqual(plain(expected))
      }),
      { numRuns: 10_000, seed: 2 },
    )
  })

  it.each([
    '1234567890123456',
    '1.',
    '1.2345',
    '"a',
    '"\u0000"',
    'a,',
    ',a',
    '"a" "b"',
    'A=1',
    ';q',
    '-',
    '?2',
  ])('a malformed field is unusable as a whole: %j', (text) => {
    expect(parseList(text)).toBeUndefined()
  })

  it('dates are numbers of seconds, with parameters like any item', () => {
    expect(parseList('@17;w=60')).toMatchObject([{ kind: 'date', value: 17 }])
    expect(parseList('@1.5')).toBeUndefined()
  })

  // Quadratic work on these lengths would take hours.
  it('hostile lengths are read in linear time', () => {
    for (const part of ['"', '\\', 'a;', '(', '%', ':', '"\\"', 'a=b,']) {
      expect(parseList(part.repeat(200_001))).toBeUndefined()
      expect(parseList(`"${part.repeat(200_000)}`)).toBeUndefined()
    }
    expect(parseList('1,'.repeat(100_000).slice(0, -1))).toHaveLength(100_000)
  })
})
