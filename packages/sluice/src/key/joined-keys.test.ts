import fc from 'fast-check'
import { expect, it } from 'vitest'
import { JoinedKeys } from './joined-keys.ts'
import { keyOf } from './key.ts'

it('makes the keys of keyOf, whatever was asked before', () => {
  const value = fc.oneof(fc.constantFrom('ann', 'bob', 'a', 'n', '', '~x'), fc.string())
  const lists = fc.array(fc.array(value, { maxLength: 3 }), { maxLength: 40 })
  fc.assert(
    fc.property(lists, (lists) => {
      const keys = new JoinedKeys()
      for (const values of [...lists, ...lists]) expect(keys.keyOf(values)).toBe(keyOf(values))
    }),
  )
})

it('tells lists apart that are alike in their last value', () => {
  const keys = new JoinedKeys()
  const lists = [
    ['GET /', 'ann'],
    ['GET /a', 'ann'],
    ['ann'],
    ['GET /', 'x', 'ann'],
    ['GET /', 'ann'],
  ]
  expect(lists.map((values) => keys.keyOf(values))).toEqual(lists.map((values) => keyOf(values)))
})
