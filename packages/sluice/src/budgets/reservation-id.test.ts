import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readId, reservationData, writeId, type ReservationData } from './reservation-id.ts'

const data: ReservationData = {
  hold: 'AAAAAAAAAAAAAAAA',
  policy: 'llm',
  attributes: { team: 'search', user: 'user-42' },
  units: 1200,
  isDegraded: false,
  endsAt: 1_700_000_060_000,
}

describe('the id of a reservation', () => {
  it('is plain text where all parts are', () => {
    expect(writeId(data)).toBe('AAAAAAAAAAAAAAAA.llm~1200~0~1700000060000~team~search~user~user-42')
  })

  it.each([
    ['no attributes', {}],
    ['plain text', { team: 'search', ip: '192.0.2.1' }],
    ['the separator in a value', { team: 'a~b' }],
    ['the separator in a name', { 'a~b': 'c' }],
    ['an empty value', { team: '' }],
    ['other characters', { team: 'größe/1', mail: 'a@b.example' }],
    ['numbers and booleans', { tries: 3, isNew: true }],
    ['a name of the prototype', JSON.parse('{ "__proto__": "x" }') as object],
  ])('says what was written: %s', (_, attributes) => {
    const written = { ...data, attributes: attributes as ReservationData['attributes'] }
    const id = writeId(written)
    expect(id).toMatch(/^[\w.~-]+$/)
    expect(reservationData(id)).toEqual(written)
    expect(JSON.stringify(reservationData(id).attributes)).toBe(JSON.stringify(attributes))
  })

  it('says what was written, whatever it was', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.dictionary(fc.string(), fc.string()),
        fc.nat(),
        fc.boolean(),
        (policy, attributes, units, isDegraded) => {
          const written = { ...data, policy, attributes: { ...attributes }, units, isDegraded }
          expect(reservationData(writeId(written))).toEqual(written)
        },
      ),
    )
  })

  it('may be one of an earlier version', () => {
    const text = btoa(JSON.stringify(['llm', { team: 'search' }, 1200, 1]))
    expect(reservationData(`AAAAAAAAAAAAAAAA.${text.replaceAll('=', '')}`)).toEqual({
      ...data,
      attributes: { team: 'search' },
      isDegraded: true,
      endsAt: 0,
    })
  })

  it.each([
    'AAAAAAAAAAAAAAAA',
    '.llm~1200~0~1',
    'A.llm~1200~0',
    'A.llm~~0~1',
    'A.llm~-1~0~1',
    'A.llm~1.5~0~1',
    'A.llm~many~0~1',
    'A.llm~1200~0~1~team',
    'A.!',
    'A.W10',
    42,
    undefined,
    `A.llm~1~0~1~team~${'x'.repeat(9000)}`,
  ])('is refused when it is none: %s', (id) => {
    expect(() => readId(id, 'llm')).toThrow(
      'the id is not that of a reservation; pass the id that reserve returned',
    )
  })

  it('is refused by another policy', () => {
    expect(() => readId(writeId(data), 'other')).toThrow(
      'the reservation is of the policy llm; settle it there',
    )
  })
})
