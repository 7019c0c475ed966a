import { describe, expect, it } from 'vitest'
import { createLimiter } from '../limiter/create-limiter.ts'
import { routeSpellings } from './route-spellings.ts'

describe('the spellings of a route', () => {
  it.each([
    ['/orders', ['/orders']],
    ['/orders/:id', ['/orders/:id', '/orders/{id}']],
    ['/orders/{id}', ['/orders/{id}', '/orders/:id']],
    ['/:a/x/{b}', ['/:a/x/{b}', '/{a}/x/{b}', '/{a}/x/:b', '/:a/x/:b']],
    ['/files/{path*}', ['/files/{path*}']],
    ['/time/12:30', ['/time/12:30']],
    ['/orders/:id/', ['/orders/:id/', '/orders/{id}/']],
    ['', ['']],
  ])('of %s', (template, spellings) => {
    expect(routeSpellings(template).toSorted()).toEqual(spellings.toSorted())
    expect(routeSpellings(template)[0]).toBe(template)
  })

  it('of many parameters are its own and the two plain ones', () => {
    const [colons, braces] = [
      Array.from({ length: 30 }, (_, i) => `/:p${i}`).join(''),
      Array.from({ length: 30 }, (_, i) => `/{p${i}}`).join(''),
    ]
    const mixed = colons.replace(':p0', '{p0}')
    expect(routeSpellings(mixed)).toEqual([mixed, colons, braces])
  })
})

describe('a rule for one spelling of a route applies to the others', () => {
  it.each<[written: string, sent: string]>([
    ['/exports/:id', '/exports/{id}'],
    ['/exports/{id}', '/exports/:id'],
    ['/users/{user}/orders/{order}', '/users/{user}/orders/:order'],
  ])('%s to %s', (written, sent) => {
    const limiter = createLimiter({
      policy: {
        name: 'api',
        rules: [
          { name: 'alone', by: [], when: { route: written }, limit: '1/h' },
          { name: 'listed', by: [], when: { route: ['/x', written], method: 'GET' }, limit: '1/h' },
          { name: 'prefix', by: [], when: { route: `${written}/*` }, limit: '1/h' },
          {
            name: 'override',
            by: [],
            limit: '9/h',
            overrides: [{ when: { route: written }, limit: '2/h' }],
          },
        ],
      },
    })
    const { outcomes } = limiter.check({ route: sent, method: 'GET' })
    expect(outcomes.map(({ rule, limit }) => [rule, limit.quota])).toEqual([
      ['alone', 1],
      ['listed', 1],
      ['override', 2],
    ])
    expect(limiter.check({ route: `${sent}/lines` }).outcomes.map(({ rule }) => rule)).toEqual([
      'prefix',
      'override',
    ])
  })

  it('but not where it is written as { equals }', () => {
    const when = { route: { equals: '/a/:id' } }
    const limiter = createLimiter({
      policy: {
        name: 'api',
        rules: [{ name: 'a', by: [], when, limit: '1/h', overrides: [{ when, limit: '2/h' }] }],
      },
    })
    expect(limiter.check({ route: '/a/{id}' }).reason).toBe('no-rule')
    expect(limiter.check({ route: '/a/:id' }).limit?.quota).toBe(2)
  })

  it('but not the values of other attributes', () => {
    const limiter = createLimiter({
      policy: { name: 'api', rules: [{ name: 'a', by: [], when: { path: '/:id' }, limit: '1/h' }] },
    })
    expect(limiter.check({ path: '/{id}' }).reason).toBe('no-rule')
  })
})
