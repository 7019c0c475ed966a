import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { periodText } from '../time/duration.ts'
import {
  ALGORITHMS,
  limit,
  limitText,
  type Limit,
  type LimitInput,
  type LimitOptions,
  type RateText,
} from './limit.ts'

const slots = {
  algorithm: 'fixed-window',
  quota: 2,
  window: 60_000,
  burst: 2,
  slots: true,
} as const
const bucket = { algorithm: 'token-bucket', quota: 100, window: 60_000, burst: 100 } as const

/** Every limit that can be said. */
const limits: fc.Arbitrary<Limit> = fc
  .record({
    algorithm: fc.constantFrom(...ALGORITHMS),
    quota: fc.integer({ min: 0, max: 10_000 }),
    window: fc.oneof(
      fc.integer({ min: 1, max: 10_000_000 }),
      fc.constantFrom(1, 1000, 60_000, 3_600_000, 86_400_000, 604_800_000, 3_456_000_000),
    ),
    burst: fc.integer({ min: 1, max: 100_000 }),
  })
  .map((fields) => {
    const bursts = fields.quota > 0 && /bucket|gcra/.test(fields.algorithm)
    return { ...fields, burst: bursts ? fields.burst : fields.quota }
  })

describe('limit', () => {
  it.each<[LimitInput, LimitOptions | undefined, Limit]>([
    ['100/min', undefined, bucket],
    ['100/1m', undefined, bucket],
    ['100/minute', undefined, bucket],
    ['100/60seconds', undefined, bucket],
    [' 100 / min ' as LimitInput, undefined, bucket],
    ['5/10s', undefined, { ...bucket, quota: 5, burst: 5, window: 10_000 }],
    ['1000/1h', undefined, { ...bucket, quota: 1000, burst: 1000, window: 3_600_000 }],
    [
      '10_000/day' as LimitInput,
      undefined,
      { ...bucket, quota: 10_000, burst: 10_000, window: 86_400_000 },
    ],
    ['100/min', { burst: 200 }, { ...bucket, burst: 200 }],
    ['100/min', { burst: 1 }, { ...bucket, burst: 1 }],
    ['100/min', { algorithm: 'gcra' }, { ...bucket, algorithm: 'gcra' }],
    ['0/min', undefined, { ...bucket, quota: 0, burst: 0 }],
    [
      { quota: 0, window: '1m' },
      { algorithm: 'fixed-window' },
      { ...bucket, algorithm: 'fixed-window', quota: 0, burst: 0 },
    ],
    [{ quota: 0, window: '1m', burst: 0 }, undefined, { ...bucket, quota: 0, burst: 0 }],
    [{ quota: 100, window: 60_000 }, undefined, bucket],
    [
      { quota: 100, window: '60s', burst: 100, algorithm: 'sliding-log' },
      undefined,
      { ...bucket, algorithm: 'sliding-log' },
    ],
    [
      { quota: 10_000, window: '1s', algorithm: 'sliding-log' },
      undefined,
      { algorithm: 'sliding-log', quota: 10_000, burst: 10_000, window: 1000 },
    ],
    [{ quota: 100, window: '40d' }, undefined, { ...bucket, window: 3_456_000_000 }],
    [
      { quota: 2 ** 52, window: 1 },
      undefined,
      { ...bucket, quota: 2 ** 52, burst: 2 ** 52, window: 1 },
    ],
  ])('of %j and %j is %j', (input, options, expected) => {
    expect(limit(input, options)).toEqual(expected)
  })

  it.each<[input: unknown, field: string, message: RegExp]>([
    [
      '100',
      '',
      /^limit "100": rate is "100"; accepted: a string such as '100\/min', '5\/10s', '1000\/1h'$/,
    ],
    ['abc/min', '', /rate is "abc\/min"; accepted: a string/],
    ['', '', /rate is ""/],
    ['x5/min', '', /rate is "x5\/min"/],
    ['5/min!', '', /rate is "5\/min!"/],
    ['unlimited', '', /rate is "unlimited"/],
    ['-5/min', 'quota', /quota is "-5"; accepted: a whole number of units, 0 or more$/],
    ['1.5/min', 'quota', /quota is "1.5"; accepted: a whole number/],
    ['_/min', 'quota', /quota is "_"; accepted: a whole number/],
    ['1__0/min', 'quota', /quota is "1__0"/],
    ['99999999999999999999/min', 'quota', /quota is 100000000000000000000; accepted/],
    [
      '100/fortnight',
      'window',
      /window is "fortnight"; accepted: whole milliseconds above 0, or .* \(units: ms, s, .*, minute, .*\)$/,
    ],
    ['100/0s', 'window', /window is "0s"/],
    [
      { quota: -1, window: '1s' },
      'quota',
      /quota is -1; accepted: a whole number of units, 0 or more$/,
    ],
    [{ quota: 1.5, window: '1s' }, 'quota', /quota is 1.5; accepted: a whole number/],
    [{ quota: Number.NaN, window: '1s' }, 'quota', /quota is NaN; accepted: a whole number/],
    [{ quota: Number.POSITIVE_INFINITY, window: '1s' }, 'quota', /quota is Infinity/],
    [{ quota: '5', window: '1s' }, 'quota', /quota is "5"; accepted: a whole number/],
    [{ window: '1s' }, 'quota', /quota is missing; accepted/],
    [{ quota: 1, window: 0 }, 'window', /window is 0; accepted: whole milliseconds above 0/],
    [{ quota: 1, window: 0.5 }, 'window', /window is 0.5/],
    [{ quota: 1, window: '10 parsecs' }, 'window', /window is "10 parsecs"; accepted/],
    [{ quota: 1 }, 'window', /window is missing; accepted/],
    [
      { quota: 1, window: '1s', burst: 0 },
      'burst',
      /burst is 0; accepted: a whole number of units, 1 or more$/,
    ],
    [{ quota: 1, window: '1s', burst: -3 }, 'burst', /burst is -3; accepted/],
    [{ quota: 1, window: '1s', burst: 1.5 }, 'burst', /burst is 1.5; accepted/],
    [{ quota: 1, window: '1s', burst: null }, 'burst', /burst is null; accepted/],
    [{ quota: 0, window: '1s', burst: 5 }, 'burst', /burst is 5 with quota 0; accepted: no burst/],
    [
      { quota: 1, window: '1s', algorithm: 'fixed-window', burst: 5 },
      'burst',
      /burst is 5 with fixed-window; accepted: no burst/,
    ],
    [
      { quota: 1, window: '1s', algorithm: 'sliding-window', burst: 5 },
      'burst',
      /burst is 5 with sliding-window/,
    ],
    [
      { quota: 2, window: '1s', algorithm: 'sliding-log', burst: 1 },
      'burst',
      /burst is 1 with sliding-log/,
    ],
    [
      { quota: 1, window: '1s', algorithm: 'magic' },
      'algorithm',
      new RegExp(`algorithm is "magic"; accepted: ${ALGORITHMS.join(', ')}$`),
    ],
    [{ quota: 1, window: '1s', algorithm: null }, 'algorithm', /algorithm is null; accepted/],
    [
      { quota: 1, window: '1s', algorithm: 'constructor' },
      'algorithm',
      /algorithm is "constructor"/,
    ],
    [
      { quota: 10_001, window: '1s', algorithm: 'sliding-log' },
      'quota',
      /quota is 10001 with sliding-log, whose state grows with it; accepted: at most 10000, or stamps$/,
    ],
    [
      { quota: 5, window: '1s', algorithm: 'sliding-log', stamps: 0 },
      'stamps',
      /stamps is .*; accepted: a whole number from 1 to 1000$/,
    ],
    [
      { quota: 5, window: '1s', algorithm: 'sliding-log', stamps: -1 },
      'stamps',
      /stamps is .*; accepted: a whole number from 1 to 1000$/,
    ],
    [
      { quota: 5, window: '1s', algorithm: 'sliding-log', stamps: 1.5 },
      'stamps',
      /stamps is .*; accepted: a whole number from 1 to 1000$/,
    ],
    [
      { quota: 5, window: '1s', algorithm: 'sliding-log', stamps: 1001 },
      'stamps',
      /stamps is .*; accepted: a whole number from 1 to 1000$/,
    ],
    [
      { quota: 5, window: '1s', algorithm: 'sliding-log', stamps: NaN },
      'stamps',
      /stamps is .*; accepted: a whole number from 1 to 1000$/,
    ],
    [
      { quota: 5, window: '1s', algorithm: 'sliding-log', stamps: Infinity },
      'stamps',
      /stamps is .*; accepted: a whole number from 1 to 1000$/,
    ],
    [
      { quota: 5, window: '1s', algorithm: 'sliding-log', stamps: '32' },
      'stamps',
      /stamps is .*; accepted: a whole number from 1 to 1000$/,
    ],
    [
      { quota: 5, window: '1s', algorithm: 'sliding-log', stamps: null },
      'stamps',
      /stamps is .*; accepted: a whole number from 1 to 1000$/,
    ],
    [
      { quota: 5, window: '1s', algorithm: 'sliding-log', stamps: [] },
      'stamps',
      /stamps is .*; accepted: a whole number from 1 to 1000$/,
    ],
    [
      { quota: 5, window: '1s', stamps: 5 },
      'algorithm',
      /algorithm is missing with stamps; accepted: 'sliding-log'/,
    ],
    [
      { quota: 5, window: '1s', algorithm: 'gcra', stamps: 5 },
      'algorithm',
      /algorithm is "gcra" with stamps/,
    ],
    [
      { quota: 2 ** 52, window: 2 },
      'quota',
      /quota is 4503599627370496, which times a window of 2 ms is above 2\^52.*accepted: a shorter window or fewer units$/,
    ],
    [
      { quota: 1, window: '1d', burst: 2 ** 52 },
      'burst',
      /burst is 4503599627370496, which times a window of 86400000 ms/,
    ],
    [
      { quota: 1, window: '1s', brust: 2 },
      '',
      /unknown field "brust"; did you mean burst\? accepted: quota, window, algorithm, burst, anchor/,
    ],
    [{}, 'quota window', /^limit {}: quota is missing/],
    [
      null,
      '',
      /^limit null: accepted: a string such as '100\/min', '5\/10s', '1000\/1h', or { quota, window, algorithm, burst, anchor/,
    ],
    [undefined, '', /^limit undefined: accepted: a string/],
    [[], '', /^limit \[\]: accepted: a string/],
    [5, '', /^limit 5: a number has no window; write '5\/min', or { quota: 5, window: '1min' }$/],
    [-1.5, '', /^limit -1.5: accepted: a string/],
  ])('refuses %j, naming %j', (input, field, message) => {
    expect(() => limit(input as LimitInput)).toThrow(
      expect.objectContaining({
        name: 'SluiceError',
        code: 'invalid-limit',
        message: expect.stringMatching(message),
        problems: field.split(' ').map((path) => expect.objectContaining({ path })),
      }),
    )
  })

  it('shows a rate that cannot be read', () => {
    expect(() => limit('fast' as LimitInput)).toThrow(
      expect.objectContaining({ problems: [expect.objectContaining({ path: '', value: 'fast' })] }),
    )
  })

  it('names every mistake at once', () => {
    const input = { quota: -1, window: 0, algorithm: 'x', burst: 0 } as unknown as LimitInput
    expect(() => limit(input)).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/: quota is -1; .*; window is 0; .*; burst is 0; /),
        problems: [
          expect.objectContaining({ path: 'quota', value: -1 }),
          expect.objectContaining({ path: 'window', value: 0 }),
          expect.objectContaining({ path: 'algorithm', value: 'x' }),
          expect.objectContaining({ path: 'burst', value: 0 }),
        ],
      }),
    )
  })

  it('holds no negative zero', () => {
    const made = limit({ quota: -0, window: '1s', burst: -0 })
    expect(Object.is(made.quota, 0) && Object.is(made.burst, 0)).toBe(true)
  })

  it('of a limit is that limit, and survives JSON', () => {
    fc.assert(
      fc.property(limits, (fields) => {
        expect(limit(fields)).toEqual(fields)
        expect(limit(JSON.parse(JSON.stringify(fields)) as Limit)).toEqual(fields)
      }),
    )
  })

  it('reads back every rate that it prints', () => {
    fc.assert(
      fc.property(limits, ({ algorithm, quota, window, burst }) => {
        const options = burst === quota ? { algorithm } : { algorithm, burst }
        const rate = `${quota}/${periodText(window)}` as RateText
        expect(limit(rate, options)).toEqual({ algorithm, quota, window, burst })
        expect(limitText(limit(rate, options))).toContain(` ${rate}`)
      }),
    )
  })
})

describe('limitText', () => {
  it.each<[LimitInput, LimitOptions, string]>([
    ['100/min', {}, 'token bucket 100/min'],
    ['100/min', { burst: 20 }, 'token bucket 100/min, burst 20'],
    ['5/10s', { algorithm: 'sliding-log' }, 'sliding log 5/10s'],
    ['1000/1d', { algorithm: 'gcra' }, 'gcra 1000/day'],
    [slots, {}, '2 at once, hold 1min'],
  ])('of %j and %j is %j', (input, options, text) => {
    expect(limitText(limit(input, options))).toBe(text)
  })

  it('of slots stays that of slots when it is read again', () => {
    expect(limit(slots)).toEqual(slots)
  })
})
