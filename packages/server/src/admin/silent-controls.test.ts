// Blocks and overrides that no request meets are reported, and those that hold are not.
import { parsePolicy } from 'sluice'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../config/read-config.ts'
import { subjectOf } from './requests.ts'
import { blockWarnings, overrideWarnings, type KnownRequests } from './silent-controls.ts'

const policy = parsePolicy({
  name: 'api',
  rules: [{ name: 'per-user', by: ['user'], limit: '5/h' }],
})
const { config } = readConfig(
  JSON.stringify({ proxy: { routes: ['/orders/:id'] }, policies: [policy] }),
  'test',
)
const known: KnownRequests = {
  proxy: config!.proxy,
  policies: () => [policy],
  hasDescriptors: false,
}

describe('a block is refused', () => {
  test.each([
    { ip: '10.0.0.0/8' },
    { ip: '2001:db8::/32' },
    { ip: '192.0.2.7:80' },
    { ip: '[2001:db8::5]:443' },
    { ip: '[2001:db8::5]' },
    { network: '192.0.2.0/24' },
  ])('by %j, which no request has', (attributes) => {
    const [name] = Object.keys(attributes)
    expect(() => subjectOf({ attributes })).toThrow(
      new RegExp(`^attributes\\.${name} is a.* no request has`),
    )
  })
})

describe('a block is warned of', () => {
  test.each([
    [{ usr: '42' }, /asks for usr, which no rule names and no proxy sets: .* did you mean user\?/],
    [{ user: '42', method: 'post' }, /asks for the method post, .* write POST/],
    [{ user: '42 ' }, /with a space at an end/],
    [{ user: 'a*' }, /^the block asks for user "a\*", which stands for itself: .* override/],
    [{ user: 'present' }, /^the block asks for user "present", which stands for itself/],
    [{ ip: '10.*' }, /^the block asks for ip "10\.\*", which stands for itself/],
    [{ ip: 'localhost' }, /^the block asks for ip "localhost", which is not an address/],
    [{ route: '/nowhere/:id' }, /asks for the route \/nowhere\/\{id\}, which is not among/],
    [{ network: '192.0.2.7' }, /it would be written 192\.0\.2\.0/],
    [{ user: 'ann,bob' }, /^the block asks for user "ann,bob", which is one text, not a list/],
  ])('by %j', (attributes, message) => {
    expect(blockWarnings(subjectOf({ attributes }), known)).toEqual([
      expect.stringMatching(message),
    ])
  })
})

describe('a block is not warned of', () => {
  test.each([
    { route: '/orders/:id' },
    { route: '/orders/{id}' },
    { route: '*unmatched' },
    { ip: '2001:DB8::5' },
    { ip: '::ffff:192.0.2.7' },
    { ip: '192.0.2.7' },
    { network: '192.0.2.0' },
    { method: 'POST' },
    { method: '*other' },
    { user: 42 },
    { user: 'auth0|5f7c' },
    { user: 'Doe, John' },
  ])('by %j, which holds', (attributes) => {
    expect(blockWarnings(subjectOf({ attributes }), known)).toEqual([])
  })
})

describe('an override', () => {
  test.each([
    [{ usr: '42' }, /did you mean user\?/],
    [{ method: 'post' }, /write POST/],
    [{ user: '42 ' }, /with a space at an end/],
    [{ route: '/nowhere' }, /which is not among proxy\.routes/],
    [{ ip: '2001:db8::5' }, /write 2001:db8::\/56/],
  ])('by %j is warned of', (when, message) => {
    expect(overrideWarnings(when, known)).toEqual([expect.stringMatching(message)])
  })

  test.each([
    { route: '/orders/:id' },
    { route: ['/orders/{id}', '/orders/:id'] },
    { route: '/orders/*' },
    { user: 'a*' },
    { ip: '2001:DB8::/56' },
    { ip: '10.0.0.0/8' },
  ])('by %j is not', (when) => {
    expect(overrideWarnings(when, known)).toEqual([])
  })
})

describe('behind the reverse proxy without routes', () => {
  const alone = { ...known, proxy: { ...known.proxy, routes: [] }, proxyPolicy: 'api' }
  test('a route that no request has is warned of', () => {
    const asked = [expect.stringMatching(/the route \/login, which is not among proxy\.routes/)]
    expect(blockWarnings({ route: '/login' }, alone, 'api')).toEqual(asked)
    expect(overrideWarnings({ route: '/login' }, alone, { policy: 'api' })).toEqual(asked)
  })
  test('not for other policies, which callers of the API may send routes to', () => {
    expect(blockWarnings({ route: '/login' }, alone, 'other')).toEqual([])
    expect(blockWarnings({ route: '/login' }, alone)).toEqual([])
  })
})

test.each([
  [{ quota: 5, window: 60 }, [expect.stringMatching(/window is 60 milliseconds; write "60s"/)]],
  [{ quota: 5, window: 3600 }, [expect.stringMatching(/window is 3600 milliseconds/)]],
  [{ quota: 5, window: 60_000 }, []],
  [{ quota: 5, window: '60s' as const }, []],
  ['5/min' as const, []],
  ['unlimited' as const, []],
])('the limit %j of an override', (limit, expected) => {
  expect(overrideWarnings({ user: 'ann' }, known, { limit })).toEqual(expected)
})
