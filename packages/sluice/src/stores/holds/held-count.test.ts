// The laws of counts with units out, against definitions that share no code with the arithmetic.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { algorithmOf } from '../../algorithms/table.ts'
import { ALGORITHMS, limit, type Limit } from '../../limit/limit.ts'
import { memoryStore } from '../memory/memory-store.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import type { Check, Hold } from '../store.ts'
import type { HeldVerdict } from './held-verdict.ts'
import { withHolds, type MemoryHoldStore } from './with-holds.ts'

const HELD = ALGORITHMS.filter((algorithm) => algorithmOf({ algorithm }).canHold)
const ALL = Number.MAX_SAFE_INTEGER

/** One count in memory, by itself. */
function world(made: Limit): {
  store: MemoryHoldStore
  at: (now: number) => void
  take: (cost: number, hold?: Hold) => HeldVerdict
  settle: (id: string, spent: number, keep?: number, more?: object) => ReturnType<typeof settleOne>
} {
  const clock = fakeClock()
  const store = withHolds(memoryStore({ clock }))
  const place = { space: 's', key: 'k', limit: made }
  const settleOne = (id: string, spent: number, keep = 0, more = {}) =>
    store.exchange([{ ...place, id, spent, keep, ...more }], []).settled[0]!
  return {
    store,
    at: (now) => clock.set(now),
    take: (cost, hold) =>
      store.exchange([], [{ ...place, cost, holds: true, hold } satisfies Check])
        .verdicts[0] as HeldVerdict,
    settle: settleOne,
  }
}

const limits = (algorithm: (typeof HELD)[number]): fc.Arbitrary<Limit> =>
  fc
    .record({
      quota: fc.integer({ min: 1, max: 8 }),
      window: fc.integer({ min: 1, max: 50 }),
      burst: fc.integer({ min: 1, max: 12 }),
    })
    .map(({ quota, window, burst }) =>
      algorithmOf({ algorithm }).hasBurst
        ? limit({ algorithm, quota, window, burst })
        : limit({ algorithm, quota, window }),
    )

/** What one holder may do next. */
const steps = fc.array(
  fc.record({
    wait: fc.integer({ min: 0, max: 30 }),
    do: fc.constantFrom('hold', 'hold', 'spend', 'settle', 'extend', 'cancel'),
    which: fc.integer({ min: 0, max: 5 }),
    units: fc.integer({ min: 1, max: 6 }),
    life: fc.integer({ min: 1, max: 60 }),
    late: fc.constantFrom(0, 40),
    onEnd: fc.constantFrom<'free' | 'spent'>('free', 'spent'),
  }),
  { minLength: 5, maxLength: 60 },
)

describe.each(HELD)('units out of a %s', (algorithm) => {
  it('never exceed the limit together with what is spent', () => {
    fc.assert(
      fc.property(limits(algorithm), steps, (made, walk) => {
        const { at, take, settle } = world(made)
        let now = 1_800_000_000_000
        for (const step of walk) {
          at((now += step.wait))
          const id = `h${step.which}`
          if (step.do === 'hold') take(step.units, { id, ...step })
          if (step.do === 'spend') take(step.units)
          if (step.do === 'settle') settle(id, step.units)
          if (step.do === 'extend') settle(id, 0, ALL, { life: step.life })
          if (step.do === 'cancel') settle(id, 0)
          const { numbers, remaining } = take(0)
          expect(numbers.out).toBeGreaterThanOrEqual(0)
          expect(numbers.leased).toBeLessThanOrEqual(numbers.out)
          expect(remaining + numbers.out).toBeLessThanOrEqual(made.burst)
        }
        // Nothing is lost: once the last hold has ended and all has drained, the count is as new.
        at((now += take(0).resetAfter))
        expect(take(0)).toMatchObject({ remaining: made.burst, resetAfter: 0 })
      }),
    )
  })

  it('admit no more in any span than the limit itself, whenever a lease is spent', () => {
    fc.assert(
      fc.property(limits(algorithm), steps, fc.infiniteStream(fc.nat(100)), (made, walk, luck) => {
        const { at, take } = world(made)
        const spent: [at: number, units: number][] = []
        const start = made.window * 1000
        let now = start
        for (const [i, { wait, units, life }] of walk.entries()) {
          at((now += wait))
          const isLeased = take(units, { id: String(i), life, onEnd: 'spent' }).allowed
          // A lease may be spent at any instant before its end, and its holder may never report. It ends with its window.
          const isWindow = algorithm === 'fixed-window' || algorithm === 'sliding-window'
          const lasts = isWindow ? Math.min(life, made.window - (now % made.window)) : life
          const moment = now + ((luck.next().value ?? 0) % lasts)
          if (isLeased) spent.push([moment, units])
        }
        for (const [from] of spent) {
          for (const [to] of spent) {
            if (to < from) continue
            const sum = spent.reduce((all, [t, u]) => (t >= from && t <= to ? all + u : all), 0)
            const span = to - from
            const drained = (span * made.quota) / made.window
            const isLog = algorithm === 'sliding-log'
            const windows = isLog
              ? Math.floor(span / made.window) + 1
              : Math.floor(to / made.window) - Math.floor(from / made.window) + 1
            const most = algorithmOf(made).hasBurst ? made.burst + drained : made.quota * windows
            expect(sum).toBeLessThanOrEqual(most)
          }
        }
      }),
    )
  })

  it('come free at the end of a reservation, and not before', () => {
    const { at, take } = world(limit({ algorithm, quota: 5, window: 1000 }))
    at(10_000)
    expect(take(5, { id: 'a', life: 60_000, onEnd: 'free' }).allowed).toBe(true)
    at(69_999)
    expect(take(1)).toMatchObject({ allowed: false, retryAfter: 1, remaining: 0 })
    at(70_000)
    expect(take(5).allowed).toBe(true)
  })

  it('are spent at the end of a lease', () => {
    const { at, take } = world(limit({ algorithm, quota: 5, window: 1000 }))
    at(10_000)
    take(5, { id: 'a', life: 500, onEnd: 'spent' })
    at(10_500)
    expect(take(1).allowed).toBe(false)
    at(13_000)
    expect(take(5).allowed).toBe(true)
  })
})

describe('a settlement', () => {
  const made = limit({ algorithm: 'fixed-window', quota: 100, window: 1_000_000 })
  const hold: Hold = { id: 'a', life: 60_000, onEnd: 'free', late: 600_000 }

  it('charges what was spent and hands back the rest', () => {
    const { at, take, settle } = world(made)
    at(1)
    take(40, hold)
    expect(settle('a', 15)).toMatchObject({ status: 'settled', charged: 15, remaining: 85 })
  })

  it('charges once when it is repeated', () => {
    const { at, take, settle } = world(made)
    at(1)
    take(40, hold)
    settle('a', 15)
    expect(settle('a', 15)).toMatchObject({ status: 'repeated', charged: 15, remaining: 85 })
    at(60_000)
    expect(settle('a', 15)).toMatchObject({ status: 'unknown', charged: 0, remaining: 85 })
  })

  it('is a plain charge after the end, once', () => {
    const { at, take, settle } = world(made)
    at(1)
    take(40, hold)
    at(60_001)
    expect(take(0).remaining).toBe(100)
    expect(settle('a', 15)).toMatchObject({ status: 'late', charged: 15, remaining: 85 })
    expect(settle('a', 15)).toMatchObject({ status: 'repeated', remaining: 85 })
  })

  it('of an unknown hold charges nothing', () => {
    const { at, settle } = world(made)
    at(1)
    expect(settle('a', 15)).toMatchObject({ status: 'unknown', charged: 0, remaining: 100 })
  })

  it('above the estimate charges up to what is there', () => {
    const { at, take, settle } = world(made)
    at(1)
    take(40, hold)
    take(50)
    expect(settle('a', 70)).toMatchObject({ charged: 50, uncharged: 20, debt: 0, remaining: 0 })
  })

  it('above the estimate charges a debt where it is allowed, up to its bound', () => {
    const { at, take, settle } = world(made)
    at(1)
    take(40, hold)
    take(50)
    expect(settle('a', 170, 0, { debt: 100 })).toMatchObject({
      charged: 150,
      uncharged: 20,
      debt: 100,
      remaining: 0,
    })
  })

  it('keeps units out and moves their end', () => {
    const { at, take, settle } = world(made)
    at(1)
    take(40, hold)
    at(50_000)
    expect(settle('a', 10, ALL, { life: 60_000 })).toMatchObject({ kept: 30, endsAt: 110_000 })
    at(109_999)
    expect(take(0).remaining).toBe(60)
    at(110_000)
    expect(take(0).remaining).toBe(90)
  })
})

describe('a debt', () => {
  it('is paid back by time before anything is allowed', () => {
    const { at, take, settle } = world(limit('10/s'))
    at(1000)
    take(5, { id: 'a', life: 1000, onEnd: 'free' })
    settle('a', 30, 0, { debt: 20 })
    expect(take(1)).toMatchObject({ allowed: false, retryAfter: 2100 })
    at(3099)
    expect(take(1).allowed).toBe(false)
    at(3100)
    expect(take(1).allowed).toBe(true)
  })
})

describe('checks with and without holds', () => {
  it('are charged all or none', () => {
    const clock = fakeClock()
    const store = withHolds(memoryStore({ clock }))
    const plain: Check = { space: 'p', key: 'k', limit: limit('2/min'), cost: 1 }
    const held: Check = {
      ...plain,
      space: 'h',
      limit: limit('3/min'),
      holds: true,
      hold: { id: 'a', life: 1000, onEnd: 'free' },
    }
    const ask = () => store.exchange([], [plain, held]).verdicts.map(({ allowed }) => allowed)
    expect([ask(), ask(), ask()]).toEqual([
      [true, true],
      [true, true],
      [false, true],
    ])
    expect(store.peek([plain, held]).map(({ remaining }) => remaining)).toEqual([0, 1])
    store.reset([plain])
    expect([ask(), ask()]).toEqual([
      [true, true],
      [true, false],
    ])
    expect(store.peek([plain, held]).map(({ remaining }) => remaining)).toEqual([1, 0])
  })
})
