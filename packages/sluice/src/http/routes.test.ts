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
/** The most specific of the routes that a path counts as. */
const first = (path: string): string | undefined => match(path)[0]

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
    expect(match(path)).toEqual(template === undefined ? [] : [template])
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
    '/%2flogin',
    '/%2Flogin',
    '/%5clogin',
    '/login%2f',
    '/login/..%2flogin',
    '/a/b/..%2f..%2flogin',
    '/a%2f..%2flogin',
    // A byte that is no text beside an encoded slash.
    '/%ff%2f..%2flogin',
    '/a/%ff%2f..%2f..%2flogin',
    '/x%e9%2f..%2flogin',
    '/%ff%2f../login',
    '/%ff%5c..%5clogin',
    '/%ff%252f..%252flogin',
    '/login%2f%ff%2f..',
    '/a/%2e%2e%2flogin',
    '/a%5c..%5clogin',
    '/%252flogin',
    '/a/..%252flogin',
    '/login;x=1',
    '/..;/login',
    '/a;b/..;c/login',
    '/a/..%3b/login',
    '/login//..',
    '/login.',
    '/login%20',
    '/a//../../login',
    '/users/ann/orders/..%2f..%2f..%2flogin',
    '/files/..%2flogin',
    '/orders/..%5clogin',
  ])('%s is no way round /login', (path) => {
    expect(match(path)).toContain('/login')
  })

  it('are all that some server would see in the path, the most specific first', () => {
    expect(match('/files/../login')).toEqual(['/login', '/files/{path*}'])
    expect(match('/users/ann/orders/..%2f..%2f..%2flogin')).toEqual([
      '/users/{user}/orders/{order}',
      '/login',
    ])
    expect(match('/orders/..')).toEqual(['/orders/{id}', '/'])
  })

  it('are those of the path as it was sent, for frameworks that route it so', () => {
    const asSent = routeMatcher(['/home', '/files/{path*}'], true)
    expect(asSent('/files/../home')).toEqual(['/files/{path*}'])
    expect(asSent('/files/..%2fhome')).toEqual(['/files/{path*}'])
    expect(asSent('/a/../home')).toEqual(['/home'])
  })

  it('may take an escaped slash for a segment or none, and a broken escape for no other route', () => {
    expect(match('/orders%2F7')).toEqual(['/orders/{id}'])
    expect(match('/orders/a%2Fb')).toEqual(['/orders/{id}'])
    expect(match('/orders/%ZZ')).toEqual(['/orders/{id}'])
  })

  it('have one template for 100,000 ids', () => {
    const templates = new Set<string | undefined>()
    for (let id = 0; id < 100_000; id++) templates.add(first(`/orders/${id}`))
    expect([...templates]).toEqual(['/orders/{id}'])
  })

  it.each([
    [['/a/{x}', '/A/{y}'], '"/A/{y}" matches the same paths as "/a/{x}", which comes first'],
    [['/a/:id', '/b', '/a/{name}'], '"/a/{name}" matches the same paths as "/a/:id"'],
    [['/a', '/a/'], '"/a/" matches the same paths as "/a"'],
    [['/f/{p*}', '/f/{q*}'], '"/f/{q*}" matches the same paths as "/f/{p*}"'],
  ])('%o are refused: the second would never be the route of a request', (patterns, sentence) => {
    expect(() => routeMatcher(patterns)).toThrow(sentence)
  })

  it('are listed once if they are given twice', () => {
    expect(routeMatcher(['/a/{x}', '/a/:x', '/a/{x}'])('/a/1')).toEqual(['/a/{x}'])
  })

  it('may write a segment as :id', () => {
    const routes = routeMatcher(['/orders/:id/lines', '/orders/new/lines'])
    expect(routes('/orders/7/lines')).toEqual(['/orders/:id/lines'])
    expect(routes('/orders/new/lines')).toEqual(['/orders/new/lines'])
  })

  it.each<unknown>([
    '',
    'orders',
    '/orders/:',
    '/orders:id',
    '/a b',
    '/{path*}/x',
    '/a?b',
    '/{a-b}',
    7,
    null,
  ])('%j is no pattern', (pattern) => {
    expect(() => routeMatcher([pattern as string])).toThrow(
      expect.objectContaining({
        code: 'invalid-option',
        message: expect.stringContaining('/orders/{id}') as string,
      }),
    )
  })
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
  ])('%s counts as %s', (method, name) => {
    expect(methodName(method)).toBe(name)
  })
})
