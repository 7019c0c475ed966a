import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ERROR_CODES, show, SluiceError } from './errors.ts'

describe('SluiceError', () => {
  it('says nothing that it was not told', () => {
    const error = new SluiceError('store-failed', 'gone')
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ name: 'SluiceError', code: 'store-failed', message: 'gone' })
    expect(error).toMatchObject({ transient: false, problems: [] })
    expect('cause' in error).toBe(false)
  })

  it('carries cause, transient and problems', () => {
    const cause = new Error('socket')
    const problems = [{ path: 'a', value: 1, message: 'a is 1' }]
    expect(
      new SluiceError('store-failed', 'gone', { cause, transient: true, problems }),
    ).toMatchObject({ cause, transient: true, problems })
  })
})

describe('the page on errors', () => {
  const page = readFileSync(new URL('../../../docs/reference/errors.md', import.meta.url), 'utf8')

  it('has one heading for each code, and no other', () => {
    const headings = [...page.matchAll(/^## (.+)$/gm)].map((match) => match[1])
    expect(headings).toEqual(ERROR_CODES)
  })
})

describe('show', () => {
  let bomb: unknown = 'x'
  for (let i = 0; i < 60; i++) bomb = [bomb, bomb]
  const cyclic: unknown[] = []
  cyclic.push(cyclic)

  it.each<[what: string, value: unknown, shown: unknown]>([
    ['a string', 'a"b', '"a\\"b"'],
    ['a lone surrogate', '\ud800', '"\\ud800"'],
    ['a long text', 'x'.repeat(61), `"${'x'.repeat(57)}..."`],
    ['a number', -0.5, '-0.5'],
    ['NaN', Number.NaN, 'NaN'],
    ['a bigint', 5n, '5n'],
    ['null', null, 'null'],
    ['undefined', undefined, 'undefined'],
    ['a boolean', true, 'true'],
    ['a symbol', Symbol('x'), 'symbol'],
    ['a function', () => 1, 'function'],
    ['an object', { a: [1] }, '{"a":[1]}'],
    ['a long list', Array.from({ length: 99 }, () => 1), expect.stringMatching(/^\[1,1,.*\.\.\.$/)],
    ['a list that doubles sixty times', bomb, expect.stringMatching(/^\[\[\[.{54}\.\.\.$/)],
    ['a cycle', cyclic, 'an object that cannot be shown'],
    ['an object whose JSON is nothing', { toJSON: () => undefined }, 'object'],
    [
      'an object whose JSON throws',
      {
        toJSON: () => {
          throw new Error('trap')
        },
      },
      'an object that cannot be shown',
    ],
  ])('prints %s, short and without throwing', (_, value, shown) => {
    expect(show(value)).toEqual(shown)
    expect(show(value).length).toBeLessThanOrEqual(62)
  })
})
