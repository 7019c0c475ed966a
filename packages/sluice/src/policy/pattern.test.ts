import { describe, expect, it } from 'vitest'
import { compileCondition, meaningOf } from './pattern.ts'
import type { Attributes, Condition } from './policy.ts'

/** What untyped callers may pass. */
const untyped = (attributes: unknown): Attributes => attributes as Attributes

describe('compileCondition', () => {
  it.each<[Condition, Attributes, boolean]>([
    [{ network: '203.0.113.0/24' }, { network: '203.0.113.0' }, true],
    [{ network: '203.0.0.0/16' }, { network: '203.0.113.0' }, true],
    [{ network: '2001:DB8::' }, { network: '2001:db8::' }, true],
    [{ network: '203.0.113.0/24' }, { network: '203.0.114.0' }, false],
    [{ network: 'guests' }, { network: 'guests' }, true],
    [{}, {}, true],
    [{ plan: 'free' }, { plan: 'free' }, true],
    [{ plan: 'free' }, { plan: 'Free' }, false],
    [{ plan: 'free' }, {}, false],
    [{ plan: 5 }, { plan: '5' }, true],
    [{ plan: '5' }, { plan: 5 }, true],
    [{ beta: true }, { beta: true }, true],
    [{ beta: true }, { beta: 'true' }, true],
    [{ beta: false }, { beta: false }, true],
    [{ beta: false }, {}, false],
    [{ user: 'absent' }, {}, true],
    [{ user: 'absent' }, { user: '' }, true],
    [{ user: 'absent' }, { user: null }, true],
    [{ user: 'absent' }, { user: 'absent' }, false],
    [{ user: 'present' }, { user: 0 }, true],
    [{ user: 'present' }, { user: false }, true],
    [{ user: 'present' }, { user: '' }, false],
    [{ user: '*' }, { user: 'x' }, true],
    [{ user: '*' }, {}, false],
    [{ route: '/api/*' }, { route: '/api/orders' }, true],
    [{ route: '/api/*' }, { route: '/api/' }, true],
    [{ route: '/api/*' }, { route: '/api' }, false],
    [{ plan: { equals: 'absent' } }, { plan: 'absent' }, true],
    [{ plan: { equals: 'absent' } }, {}, false],
    [{ plan: { equals: 'a*' } }, { plan: 'a*' }, true],
    [{ plan: { equals: 'a*' } }, { plan: 'ab' }, false],
    [{ plan: { equals: 5 } }, { plan: '5' }, true],
    [{ plan: ['free', 'trial'] }, { plan: 'trial' }, true],
    [{ plan: ['free', 'trial'] }, { plan: 'paid' }, false],
    [{ plan: ['free', 'absent'] }, {}, true],
    [{ plan: ['present', { equals: 'x' }] }, { plan: 'y' }, true],
    [{ plan: ['present', 'absent'] }, {}, true],
    [{ plan: ['a*', { equals: 'b*' }, 7] }, { plan: 'b*' }, true],
    [{ plan: ['a*', { equals: 'b*' }, 7] }, { plan: 'bc' }, false],
    [{ plan: ['a*', { equals: 'b*' }, 7] }, { plan: 'abc' }, true],
    [{ plan: ['a*', { equals: 'b*' }, 7] }, { plan: 7 }, true],
    [{ ip: '10.0.0.0/8' }, { ip: '10.1.2.3' }, true],
    [{ ip: '10.0.0.0/8' }, { ip: '::ffff:10.1.2.3' }, true],
    [{ ip: '10.0.0.0/8' }, { ip: '11.1.2.3' }, false],
    [{ ip: '10.0.0.0/8' }, { ip: 'unknown' }, false],
    [{ ip: '10.0.0.0/8' }, {}, false],
    [{ ip: '2001:db8::1' }, { ip: '2001:DB8:0::1' }, true],
    [{ ip: ['10.0.0.0/8', '::1', 'absent'] }, { ip: '::1' }, true],
    [{ ip: ['10.0.0.0/8', '::1', 'absent'] }, {}, true],
    [{ ip: { equals: 'unix' } }, { ip: 'unix' }, true],
    [{ peer: { network: '10.0.0.0/8' } }, { peer: '10.1.2.3' }, true],
    [{ peer: '10.0.0.0/8' }, { peer: '10.1.2.3' }, false],
    [{ peer: '10.0.0.0/8' }, { peer: '10.0.0.0/8' }, true],
    [{ plan: 'free', method: 'POST' }, { plan: 'free', method: 'POST' }, true],
    [{ plan: 'free', method: 'POST' }, { plan: 'free', method: 'GET' }, false],
    [{ plan: 'free', method: 'POST' }, { method: 'POST' }, false],
    [{ constructor: 'absent' } as unknown as Condition, {}, true],
    [{ constructor: 'present' } as unknown as Condition, {}, false],
    [JSON.parse('{ "__proto__": "absent" }') as Condition, {}, true],
    [
      JSON.parse('{ "__proto__": "x" }') as Condition,
      JSON.parse('{ "__proto__": "x" }') as Attributes,
      true,
    ],
  ])('%j of %j is %s', (condition, attributes, expected) => {
    expect(compileCondition(condition)(attributes)).toBe(expected)
  })

  it('reports attributes of another type', () => {
    const applies = compileCondition({ plan: 'free', user: 'present' })
    expect(() => applies(untyped({ plan: { name: 'free' } }))).toThrow(/attribute "plan" is/)
  })

  it('refuses what is not a pattern', () => {
    expect(() => compileCondition({ ip: '10/8' })).toThrow(
      expect.objectContaining({
        code: 'invalid-policy',
        message: expect.stringMatching(/^"ip" is "10\/8"; accepted: a network/),
      }),
    )
  })
})

describe('meaningOf', () => {
  it.each<[attribute: string, pattern: unknown, accepted: RegExp]>([
    ['plan', '', /not empty, or 'absent'/],
    ['plan', 'a*b', /a \* at the end only; { equals } takes a string literally/],
    ['plan', '**', /a \* at the end only/],
    ['plan', Number.NaN, /finite number/],
    ['plan', null, /'present', 'absent', a string/],
    ['plan', undefined, /'present', 'absent', a string/],
    ['plan', 5n, /'present', 'absent', a string/],
    ['plan', ['a'], /'present', 'absent', a string/],
    ['plan', {}, /'present', 'absent', a string/],
    ['plan', { starts: 'a' }, /{ equals }, { network }/],
    ['plan', { equals: 'a', network: '::1' }, /{ equals }, { network }/],
    ['plan', { equals: '' }, /a string that is not empty/],
    ['plan', { equals: null }, /a string that is not empty/],
    ['plan', { equals: Number.NaN }, /a finite number/],
    ['plan', { network: 5 }, /a network such as 10.0.0.0\/8/],
    ['plan', { network: '10.0.0.0/33' }, /a network such as 10.0.0.0\/8/],
    ['ip', '10.0.0.0/33', /a network such as 10.0.0.0\/8.*{ equals } for any other text/],
    ['ip', 'localhost', /a network such as/],
  ])('of %s: %o says what is accepted', (attribute, pattern, accepted) => {
    expect(meaningOf(attribute, pattern)).toMatch(accepted)
  })
})
