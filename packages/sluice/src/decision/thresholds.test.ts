import { describe, expect, it } from 'vitest'
import { createLimiter } from '../limiter/create-limiter.ts'
import { tryParsePolicy } from '../policy/parse.ts'
import type { LimitInput } from '../limit/limit.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { watchThresholds, type ThresholdEvent } from './thresholds.ts'

const MINUTE = 60_000

function watched(limit: LimitInput, thresholds: readonly number[] = [80, 100]) {
  const clock = fakeClock(1_800_000_000_000)
  const events: ThresholdEvent[] = []
  const limiter = createLimiter({
    policy: { name: 'api', rules: [{ name: 'r', by: ['user'], limit, thresholds }] },
    store: memoryStore({ clock }),
    onDecision: watchThresholds((event) => void events.push(event)),
  })
  const use = (times: number, user = 'ann', cost = 1): readonly number[] => {
    events.length = 0
    for (let i = 0; i < times; i++) limiter.check({ user }, cost)
    return events.map(({ threshold }) => threshold)
  }
  return { clock, events, limiter, use }
}

const fixed = { quota: 10, window: '1min', algorithm: 'fixed-window' } as const

describe('thresholds', () => {
  it('are reported when a key crosses them, once', () => {
    const { use } = watched(fixed)
    expect(use(7)).toEqual([])
    expect(use(1)).toEqual([80])
    expect(use(1)).toEqual([])
    expect(use(1)).toEqual([100])
    expect(use(20)).toEqual([])
  })

  it('come with the rule, the key and the numbers', () => {
    const { use, events } = watched(fixed, [50])
    use(5)
    expect(events).toEqual([
      {
        rule: 'r',
        key: 'ann',
        attributes: { user: 'ann' },
        threshold: 50,
        used: 5,
        limit: expect.objectContaining({ quota: 10 }) as object,
        at: 1_800_000_000_000,
        quietUntil: 1_800_000_000_000 + MINUTE,
      },
    ])
  })

  it('are reported together when one request crosses several, for each key', () => {
    const { use } = watched(fixed, [10, 50, 100])
    expect(use(1, 'ann', 10)).toEqual([10, 50, 100])
    expect(use(1, 'bob', 6)).toEqual([10, 50])
  })

  it('are reported again in the next window', () => {
    const { use, clock } = watched(fixed)
    expect(use(10)).toEqual([80, 100])
    clock.advance(MINUTE)
    expect(use(10)).toEqual([80, 100])
  })

  it('are not reported again within a window in which a key goes back and forth', () => {
    const { use, clock } = watched({ quota: 10, window: '1min' }, [80])
    expect(use(8)).toEqual([80])
    for (let i = 0; i < 9; i++) {
      clock.advance(MINUTE / 10)
      expect(use(1)).toEqual([])
    }
    clock.advance(MINUTE / 10)
    expect(use(1)).toEqual([80])
  })

  it('of 100 % are reported when what is left is too little', () => {
    const { use } = watched(fixed, [100])
    expect(use(2, 'ann', 4)).toEqual([])
    expect(use(3, 'ann', 4)).toEqual([100])
  })

  it('are not crossed by refusals, peeks and refunds', () => {
    const { use, limiter, events } = watched(fixed, [50])
    expect(use(1, 'ann', 11)).toEqual([])
    limiter.peek({ user: 'ann' }, 9)
    limiter.refund({ user: 'ann' }, 9)
    expect(events).toEqual([])
  })

  it('remember at most ten thousand crossings', () => {
    const { limiter, events } = watched({ quota: 1, window: '1h' }, [100])
    for (let i = 0; i < 10_001; i++) limiter.check({ user: `u${i}` })
    expect(events.length).toBe(10_001)
    for (const user of ['u0', 'u10000']) {
      limiter.reset({ user })
      limiter.check({ user })
    }
    expect(events.slice(10_001).map(({ key }) => key)).toEqual(['u0'])
  })
})

describe('mistakes in thresholds', () => {
  it.each([
    80,
    '80',
    null,
    [],
    [0],
    [101],
    [-1],
    [80.5],
    [Number.NaN],
    [2 ** 53],
    ['80'],
    [80, 80],
    [100, 80],
    Array.from({ length: 11 }, (_, i) => i + 1),
  ])('%j is one', (thresholds) => {
    const rule = { name: 'r', by: ['user'], limit: '1/s', thresholds }
    const { problems } = tryParsePolicy({ name: 'p', rules: [rule] })
    expect(problems[0]?.path).toMatch(/^rules\[0\]\.thresholds/)
  })
})
