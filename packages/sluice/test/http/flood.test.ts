// Floods of what a client can vary for nothing: paths, methods, addresses of its own network, fields.
import { describe, expect, it } from 'vitest'
import {
  createRequestGuard,
  type HttpOptions,
  type FrameworkAdapter,
} from '../../src/http/index.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'

interface Sent {
  readonly peer: string
  readonly method: string
  readonly path: string
  readonly fields: Readonly<Record<string, string>>
}

const port: FrameworkAdapter<Sent, object> = {
  peerAddress: ({ peer }) => peer,
  method: ({ method }) => method,
  path: ({ path }) => path,
  header: ({ fields }, name) => fields[name],
  route: () => undefined,
  get: () => undefined,
  set: () => undefined,
}

/** What the product promises of ids; what goes another way needs fewer to show. */
const [IDS, FEW] = [100_000, 5000]

/** The counts that a flood makes in a store. */
function countsOf(
  requests: number,
  make: (i: number) => Partial<Sent>,
  options: HttpOptions<Sent>,
): number {
  const counts = new Set<string>()
  const store = memoryStore()
  const rules = [{ name: 'all', by: ['ip', 'route', 'method'], limit: '9/min' }] as const
  const limiter = createLimiter({ policy: { name: 'a', rules }, store })
  const check: typeof limiter.check = (attributes, cost) => {
    const { ip, route, method } = attributes as Record<string, string>
    counts.add([ip, route, method].join(' '))
    return limiter.check(attributes, cost)
  }
  const guard = createRequestGuard(port, { check, refund: limiter.refund.bind(limiter) }, options)
  const plain = { peer: '192.0.2.1', method: 'GET', path: '/', fields: {} }
  let allowed = 0
  for (let i = 0; i < requests; i++) {
    const passage = guard.enter({ ...plain, ...make(i) }, null)
    if ('refusal' in passage && passage.refusal === null) allowed++
  }
  // A minute has not passed, so each count lets nine through, and a few more as it refills.
  expect(allowed).toBeLessThan(counts.size * 40)
  return counts.size
}

const routes = ['/orders/{id}', '/users/{user}/orders/{order}']

describe('a flood of one client', () => {
  it.each<[string, number, (i: number) => Partial<Sent>, HttpOptions<Sent>]>([
    ['ids of a route', IDS, (i) => ({ path: `/orders/${i}` }), { routes }],
    ['paths that are nowhere', IDS, (i) => ({ path: `/${i}/${i * 7}` }), { routes }],
    ['ids of two kinds', FEW, (i) => ({ path: `/users/${i}/orders/${-i}` }), { routes }],
    ['paths without declared routes', FEW, (i) => ({ path: `/${i}` }), {}],
    ['queries', FEW, (i) => ({ path: `/orders/1?q=${i}` }), { routes }],
    ['spellings', FEW, (i) => ({ path: `${'/.'.repeat(i % 50)}//ORDERS/%2${i % 10}` }), { routes }],
    ['methods of its own', FEW, (i) => ({ method: `M${i}` }), {}],
    ['hosts before the path', FEW, (i) => ({ path: `http://h${i}/orders/${i}` }), { routes }],
    [
      'addresses of one /56',
      FEW,
      (i) => ({ peer: `2001:db8:0:12${(i % 256).toString(16).padStart(2, '0')}::${i}` }),
      {},
    ],
    [
      'X-Forwarded-For before the entry of the proxy',
      FEW,
      (i) => ({
        peer: '10.0.0.1',
        fields: { 'x-forwarded-for': `${i}.2.3.4, ${'9.9.9.9,'.repeat(i % 5)} 203.0.113.9` },
      }),
      { address: { trustedProxies: '10.0.0.0/8' } },
    ],
    [
      'broken Forwarded, which is the proxy',
      FEW,
      (i) => ({ peer: '10.0.0.1', fields: { forwarded: `for="${i}, for=203.0.113.9` } }),
      { address: { trustedProxies: '10.0.0.0/8', header: 'forwarded' } },
    ],
  ])(
    'of %s makes one count',
    (_, requests, make, options) => {
      expect(countsOf(requests, make, { onWarning: () => undefined, ...options })).toBe(1)
    },
    30_000,
  )
})
