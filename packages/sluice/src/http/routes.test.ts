import { describe, expect, it } from 'vitest'
import { methodName, routeMatcher } from './routes.ts'

const match = routeMatcher([
  '/',
  '/login',
  '/orders/{id}',
  '/orders/new',
  '/files/{path*}',
  '/users/{user}/orders/{order}',
])

describe('declared routes', () => {
  it.each<[string, string | undefined]>([
    ['/', '/'],
    ['', '/'],
    ['/?a=/login', '/'],
    ['/login', '/login'],
    ['/login?next=/orders/7', '/login'],
    ['/login#top', '/login'],
    ['/orders/7', '/orders/{id}'],
    ['/orders/new', '/orders/new'],
    ['/orders', undefined],
    ['/orders/7/items', undefined],
    ['/files/a/b/c', '/files/{path*}'],
    ['/users/ann/orders/7', '/users/{user}/orders/{order}'],
    ['/users/ann/orders', undefined],
    ['/nothing', undefined],
    [`/orders/${'x'.repeat(50_000)}`, '/orders/{id}'],
    ['http://host/orders/7', '/orders/{id}'],
    ['http://host', '/'],
    ['//host/orders/7', '/orders/{id}'],
    ['*', undefined],
  ])('%s is %s', (path, template) => {
    expect(match(path)).toBe(template)
  })

  it.each([
    '/LOGIN',
    '/Login/',
    '//login',
    '/login//',
    '/./login',
    '/a/../login',
    '/../../login',
    '/%6Cogin',
    '/%6c%6F%67%69%6E',
    '/%2e%2E/login',
    '/login/.',
    '/login?x=%ZZ',
    'HTTP://user@host:80/login?x',
    '//host/login',
    '//orders/login',
    String.raw`/a\..\login`,
    String.raw`/\host\login`,
    `${'/.'.repeat(8000)}/login`,
  ])('%s is no way round /login', (path) => {
    expect(match(path)).toBe('/login')
  })

  it('where routers disagree, the pattern that says most counts, or theirs who route paths as sent', () => {
    const asSent = routeMatcher(['/home', '/files/{path*}'], true)
    expect([match('/files/../login'), match('/files/../')]).toEqual(['/login', '/files/{path*}'])
    expect([asSent('/files/../home'), asSent('/a/../home')]).toEqual(['/files/{path*}', '/home'])
    expect([match(String.raw`/orders/a\b`), match('/orders/..')]).toEqual([
      '/orders/{id}',
      '/orders/{id}',
    ])
  })

  it('an escaped slash makes no second segment, and a broken escape no other route', () => {
    expect(match('/orders%2F7')).toBeUndefined()
    expect(match('/orders/%ZZ')).toBe('/orders/{id}')
  })

  it('100,000 ids are one template', () => {
    const templates = new Set<string | undefined>()
    for (let id = 0; id < 100_000; id++) templates.add(match(`/orders/${id}`))
    expect([...templates]).toEqual(['/orders/{id}'])
  })

  it('the first of two that mean the same is used', () => {
    expect(routeMatcher(['/a/{x}', '/A/{y}'])('/a/1')).toBe('/a/{x}')
  })

  it.each<unknown>(['', 'orders', '/orders/:id', '/a b', '/{path*}/x', '/a?b', '/{a-b}', 7, null])(
    '%j is no pattern',
    (pattern) => {
      expect(() => routeMatcher([pattern as string])).toThrow(
        expect.objectContaining({
          code: 'invalid-option',
          message: expect.stringContaining('/orders/{id}') as string,
        }),
      )
    },
  )
})

describe('methods in keys', () => {
  it.each([
    ['GET', 'GET'],
    ['HEAD', 'GET'],
    ['head', 'GET'],
    ['post', 'POST'],
    ['PATCH', 'PATCH'],
    ['BREW', '*other'],
    ['PROPFIND', '*other'],
  ])('%s counts as %s', (method, text) => {
    expect(methodName(method)).toBe(text)
  })
})
