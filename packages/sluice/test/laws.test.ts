// The laws that hold of every algorithm at every step: honest waits, refusals that change nothing, whole numbers.
import { describe, expect, it } from 'vitest'
import type { Verdict } from '../src/limit/verdict.ts'
import { createLimiter } from '../src/limiter/create-limiter.ts'
import { memoryStore } from '../src/stores/memory/memory-store.ts'
import { fakeClock } from '../src/testing/fake-clock.ts'
import { Count } from './count.ts'
import { ALGORITHMS } from './walks.ts'
import { walking } from './walking.ts'

const everything = { refund: true, back: true, runs: 100 }

const waits = ({ remaining, resetAfter, availableAfter, delay, at }: Verdict) => ({
  remaining,
  resetAfter,
  availableAfter,
  delay,
  at,
})

describe.each(ALGORITHMS)('%s', (algorithm) => {
  it('refuses until retryAfter, then allows, for the cost that was asked', () => {
    let refusals = 0
    walking(algorithm, everything, () => ({ after, step, taken }) => {
      const { retryAfter } = taken
      if (taken.allowed || retryAfter === null) return
      refusals += 1
      expect(retryAfter).toBeGreaterThan(0)
      expect(after.peek(step.cost, step.at + retryAfter - 1).allowed).toBe(false)
      expect(after.peek(step.cost, step.at + retryAfter).allowed).toBe(true)
      expect(after.take(step.cost, step.at + retryAfter).allowed).toBe(true)
    })
    expect(refusals).toBeGreaterThan(0)
  })

  it('says never when, and only when, the cost is above the burst', () => {
    walking(algorithm, everything, () => ({ limit, step, taken }) => {
      expect(taken.retryAfter === null).toBe(step.cost > limit.burst)
    })
  })

  it('answers as no state does from resetAfter on, and not before', () => {
    walking(algorithm, everything, () => ({ limit, after, step, taken, drawn }) => {
      const full = step.at + taken.resetAfter
      const later = full + Math.floor(drawn.part * 3 * limit.window)
      expect(after.peek(limit.burst, full).allowed).toBe(true)
      for (const cost of [0, 1, limit.burst, limit.burst + 1]) {
        const old = after.branch()
        const none = new Count(limit)
        expect(old.take(cost, later).toJSON()).toEqual(none.take(cost, later).toJSON())
        expect(old.take(1, later + 1).toJSON()).toEqual(none.take(1, later + 1).toJSON())
      }
      const early = taken.resetAfter > 0 && after.peek(limit.burst, full - 1).allowed
      expect(early).toBe(false)
    })
  })

  it('changes nothing by a refusal, a peek or a cost of 0', () => {
    walking(algorithm, everything, () => ({ limit, before, after, step, taken, drawn }) => {
      if (taken.allowed && step.cost > 0 && step.do === 'take') return
      // A clock set back moves the state; that the units stay is another law.
      if (before.state !== undefined && taken.next.at < before.state.at) return
      const later = step.at + Math.floor(drawn.part * 2 * limit.window)
      for (const at of [step.at, later]) {
        for (const cost of [0, 1, Math.max(1, taken.remaining), taken.remaining + 1]) {
          expect(after.peek(cost, at).toJSON()).toEqual(before.peek(cost, at).toJSON())
        }
      }
    })
  })

  it('says of a peek what a take would, and of a refusal what a peek does', () => {
    walking(algorithm, everything, () => ({ before, step, taken }) => {
      const peeked = before.peek(step.cost, step.at)
      const asked = before.branch().take(step.cost, step.at)
      expect(peeked.allowed).toBe(asked.allowed)
      expect(peeked.delay).toBe(asked.delay)
      expect(peeked.retryAfter).toBe(asked.retryAfter)
      const seen = taken.allowed ? before.peek(0, step.at) : taken
      expect(waits(seen)).toEqual(waits(before.peek(0, step.at)))
    })
  })

  it('counts what it allows: remaining falls by the cost', () => {
    walking(algorithm, everything, () => ({ before, step, taken }) => {
      const room = before.peek(0, step.at).remaining
      const cost = step.do === 'take' && taken.allowed ? step.cost : 0
      expect(taken.remaining).toBe(room - cost)
    })
  })

  it('answers in whole numbers of at least 0, and more is free before a refused cost fits', () => {
    walking(algorithm, everything, () => ({ limit, step, taken }) => {
      const { remaining, retryAfter, resetAfter, availableAfter, delay, at, next } = taken
      for (const n of [remaining, retryAfter ?? 0, resetAfter, availableAfter, delay]) {
        expect([n, Number.isSafeInteger(n) && n >= 0 && !Object.is(n, -0)]).toEqual([n, true])
      }
      for (const n of [next.at, next.used, next.before]) expect(Number.isSafeInteger(n)).toBe(true)
      expect(at).toBe(step.at)
      expect(remaining).toBeLessThanOrEqual(limit.burst)
      expect(resetAfter === 0).toBe(remaining === limit.burst)
      expect(retryAfter ?? 0).toBeLessThanOrEqual(resetAfter)
      const wait = taken.allowed ? resetAfter : (retryAfter ?? resetAfter)
      expect(availableAfter).toBeLessThanOrEqual(wait)
    })
  })

  it('allows a cheaper request whenever it allows a dearer one', () => {
    walking(algorithm, everything, () => ({ limit, after, step, taken, drawn }) => {
      const { remaining } = taken
      const cheaper = Math.floor(drawn.part * (remaining + 1))
      for (const cost of [cheaper, remaining]) {
        expect(after.peek(cost, step.at).allowed).toBe(true)
      }
      for (const cost of [remaining + 1, limit.burst + 1]) {
        expect(after.peek(cost, step.at).allowed).toBe(false)
      }
    })
  })

  it('charges a refused request through a store nothing', () => {
    const clock = fakeClock(1_800_000_000_000)
    const [asked, left] = [memoryStore({ clock }), memoryStore({ clock })]
    const limit = { algorithm, quota: 3, window: 1000, burst: 3 }
    const check = (cost: number) => [{ space: 's', key: 'k', limit, cost }]
    for (const store of [asked, left]) store.take(check(2))
    for (let i = 0; i < 100; i++) {
      clock.advance(1)
      expect(asked.take(check(3))[0]!.allowed).toBe(false)
    }
    for (const at of [0, 200, 900, 2000]) {
      clock.set(1_800_000_000_100 + at)
      for (const cost of [0, 1, 2, 3, 4]) {
        expect(asked.peek(check(cost))).toEqual(left.peek(check(cost)))
      }
    }
  })
})

describe('misuse', () => {
  const costs = [-1, 0.5, 1.000_000_1, NaN, Infinity, -Infinity, 2 ** 53, 1e300, -0.1]
  const strangers = ['1', null, {}, [1], true, 1n] as unknown as number[]

  it.each(ALGORITHMS)(
    '%s: a cost that is no whole number of units is an error and is not counted',
    (algorithm) => {
      const limiter = createLimiter({ limit: { algorithm, quota: 5, window: 1000 } })
      for (const cost of [...costs, ...strangers]) {
        for (const verb of ['check', 'peek', 'refund'] as const) {
          expect(() => limiter[verb]('key', cost), `${verb} ${String(cost)}`).toThrow(
            /cost is .*accepted/,
          )
        }
      }
      expect(limiter.peek('key').remaining).toBe(5)
    },
  )

  it.each(ALGORITHMS)('%s: the largest cost is no misuse and can never fit', (algorithm) => {
    const limiter = createLimiter({ limit: { algorithm, quota: 5, window: 1000 } })
    const { allowed, retryAfter, remaining } = limiter.check('key', 2 ** 53 - 1)
    expect({ allowed, retryAfter, remaining }).toEqual({
      allowed: false,
      retryAfter: null,
      remaining: 5,
    })
  })
})
