import { describe, expect, it } from 'vitest'
import { createLimiter } from '../limiter/create-limiter.ts'
import { rateLimit } from './node.ts'

const limiter = createLimiter({ limit: '9/min' })

describe('mistakes in options', () => {
  it.each<[unknown, unknown, RegExp]>([
    [
      '100/min',
      undefined,
      /the first argument is "100\/min"; accepted: a limiter, or options such as/,
    ],
    [undefined, undefined, /the first argument is undefined/],
    [{}, undefined, /neither limit nor policy/],
    [{ limit: '1/s', stroe: 1 }, undefined, /unknown option "stroe"/],
    [limiter, { usr: () => 'ann' }, /unknown option "usr"; accepted: user, apiKey/],
    [limiter, { user: 'ann' }, /user is "ann"; accepted: a function of the request/],
    [limiter, { headers: 'draft-1' }, /headers is "draft-1"; accepted: structured, draft-7/],
    [
      limiter,
      { headers: ['structured', 'draft-6'] },
      /structured and draft-6, which write the same fields/,
    ],
    [limiter, { unavailableStatus: 500 }, /unavailableStatus is 500; accepted: 429, 503/],
    [
      limiter,
      { unknownAddress: 'drop' },
      /unknownAddress is "drop"; accepted: skip, refuse, share/,
    ],
    [limiter, { onFailure: 'local' }, /onFailure is "local"; accepted: open, closed/],
    [limiter, { partitionKeys: { secret: 'short' } }, /partitionKeys\.secret/],
    [
      { check: () => ({}), give: () => undefined },
      { partitionKeys: { secret: 'sixteen letters!' } },
      /need a limiter made by createLimiter/,
    ],
    [limiter, { spread: '1.5s' }, /1\.5s/],
    [limiter, { address: { trustedProxies: 'all' } }, /trustedProxies is "all"/],
    [limiter, { routes: ['orders'] }, /"orders" is no pattern/],
  ])('%j with %j is refused when it is made', (first, options, message) => {
    expect(() => rateLimit(first as never, options as never)).toThrow(message)
  })

  it('are not what is left undefined', () => {
    expect(() => rateLimit(limiter, { user: undefined, spread: undefined } as never)).not.toThrow()
  })
})
