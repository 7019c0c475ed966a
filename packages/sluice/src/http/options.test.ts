import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createLimiter } from '../limiter/create-limiter.ts'
import { rateLimit } from './node.ts'

const limiter = createLimiter({ limit: '9/min' })

describe('mistakes in options', () => {
  it.each<[unknown, unknown, RegExp]>([
    [
      '100/min',
      undefined,
      /the first argument is "100\/min"; accepted: a limiter, a budget, or options such as/,
    ],
    [undefined, undefined, /the first argument is undefined/],
    [{}, undefined, /^rateLimit: neither limit nor policy is given; write rateLimit\(/],
    [
      { limit: '1/s', policy: { name: 'a', rules: [] } },
      undefined,
      /^rateLimit: both limit and policy are given/,
    ],
    [{ limit: '1/s', stroe: 1 }, undefined, /unknown option "stroe"/],
    [{}, { limit: '1/s' }, /^rateLimit: the first argument is no limiter and has no limit; call/],
    [Object.create({ addHook() {} }), { limit: '1/s' }, /app\.addHook\('onRequest', rateLimit\(/],
    [new IncomingMessage(new Socket()), {}, /use what it returns: app\.use\(rateLimit\(/],
    [
      limiter,
      { usr: () => 'ann' },
      /unknown option "usr"; did you mean user\? accepted: user, apiKey/,
    ],
    [limiter, { user: 'ann' }, /user is "ann"; accepted: a function of the request/],
    [
      limiter,
      { headers: 'draft-1' },
      /"draft-1" is no header dialect; accepted: structured, draft-11/,
    ],
    [
      limiter,
      { headers: ['structured', 'draft-6'] },
      /structured and draft-6 both write RateLimit-Policy/,
    ],
    [limiter, { unavailableStatus: 500 }, /unavailableStatus is 500; accepted: 429, 503/],
    [
      limiter,
      { unknownAddress: 'drop' },
      /unknownAddress is "drop"; accepted: skip, refuse, share/,
    ],
    [
      limiter,
      { unknownAddress: 'skp' },
      /unknownAddress is "skp"; did you mean skip\? accepted: skip, refuse, share/,
    ],
    [limiter, { onFailure: 'local' }, /onFailure is "local"; accepted: open, closed/],
    [limiter, { partitionKeys: { secret: 'short' } }, /partitionKeys\.secret/],
    [
      { check: () => ({}), refund: () => undefined },
      { partitionKeys: { secret: 'sixteen letters!' } },
      /need a limiter made by createLimiter/,
    ],
    [limiter, { spread: '1.5s' }, /1\.5s/],
    [limiter, { address: { trustedProxies: 'all' } }, /trustedProxies is "all"/],
    [limiter, { routes: ['orders'] }, /"orders" is no pattern/],
    [limiter, { routes: '/' }, /routes: "\/" is no pattern; accepted: a list of strings/],
    [limiter, null, /options are null; accepted: an object/],
    [limiter, 5, /options are 5; accepted: an object/],
    [{ limit: '1/s' }, { usr: () => 'ann' }, /unknown option "usr"/],
    [limiter, { cost: -1 }, /cost is -1; accepted: a whole number of units, 0 or more/],
    [limiter, { cost: 1.5 }, /cost is 1\.5; accepted/],
    [limiter, { cost: '5' }, /cost is "5"; accepted/],
    [{ limit: '1/s', cost: Number.NaN }, undefined, /cost is NaN; accepted/],
    [limiter, { address: 'loopback' }, /address is "loopback"; accepted: an object such as/],
    [limiter, { address: null }, /address: options are null; accepted: an object such as/],
    [limiter, { address: true }, /address: options are true; accepted: an object such as/],
    [
      limiter,
      { address: { trustProxy: 'loopback' } },
      /address: unknown option "trustProxy"; use address: .* accepted: trustedProxies, header/,
    ],
    [limiter, { partitionKeys: null }, /partitionKeys\.secret is missing/],
  ])('%j with %j is refused when it is made', (first, options, message) => {
    expect(() => rateLimit(first as never, options as never)).toThrow(message)
  })

  it('are not what is left undefined', () => {
    expect(() => rateLimit(limiter, { user: undefined, spread: undefined } as never)).not.toThrow()
  })
})
