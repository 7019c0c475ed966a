import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileOverrides } from './override-index.ts'
import { compileCondition } from './pattern.ts'
import type { Attributes, Condition, Override } from './policy.ts'

const override = (when: Condition): Override => ({ when, limit: '1/min' })

describe('the index of overrides', () => {
  it.each<[what: string, attributes: Attributes, position: number]>([
    ['the first of two for one value', { user: 'ann' }, 0],
    ['a prefix before an exact value', { user: 'bot-1' }, 1],
    ['a value of a list', { user: 'eve' }, 3],
    ['a number as its string', { user: 7 }, 4],
    ['a condition on two attributes', { user: 'zoe', plan: 'free' }, 5],
    ['nothing', { user: 'zoe' }, -1],
    ['nothing for an unknown attribute', {}, -1],
  ])('finds %s', (_, attributes, position) => {
    const find = compileOverrides([
      override({ user: 'ann' }),
      override({ user: 'bot-*' }),
      override({ user: 'bot-1' }),
      override({ user: ['bob', 'eve', 'ann'] }),
      override({ user: 7 }),
      override({ user: 'present', plan: 'free' }),
    ])
    expect(find(attributes)).toBe(position)
  })

  it('finds what a search in order finds', () => {
    const name = fc.constantFrom('user', 'plan')
    const value = fc.constantFrom('a', 'b', 'c')
    const pattern = fc.oneof(
      value,
      fc.array(value, { minLength: 1, maxLength: 3 }),
      fc.constantFrom('present', 'absent', 'a*'),
    )
    const when = fc.dictionary(name, pattern, { minKeys: 1, maxKeys: 2, noNullPrototype: true })
    const attributes = fc.record({ user: value, plan: value }, { requiredKeys: [] })
    fc.assert(
      fc.property(fc.array(when, { maxLength: 12 }), attributes, (conditions, known) => {
        const inOrder = conditions.findIndex((condition) => compileCondition(condition)(known))
        expect(compileOverrides(conditions.map(override))(known)).toBe(inOrder)
      }),
    )
  })
})
