// The laws of the variants: what an algorithm promises holds for windows from the first request and of the calendar too.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { limit, type Limit } from '../src/limit/limit.ts'
import { Count } from './count.ts'
import { kindFields, VARIANT_KINDS, type Kind } from './kinds.ts'
import { walking, type Seen } from './walking.ts'

function limitsOf(kind: Kind): fc.Arbitrary<Limit> {
  const quotas = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 1000 }))
  const windows = fc.constantFrom(1, 7, 1000, 60_000, 3_600_000)
  return fc
    .tuple(fc.constantFrom(...kindFields(kind)), quotas, windows)
    .map(([fields, quota, window]) =>
      limit({ ...(fields.calendar === undefined && { window }), ...fields, quota }),
    )
}

describe.each(VARIANT_KINDS)('%s', (kind) => {
  const walk = (observer: (limit: Limit) => (seen: Seen) => void, back = false): void =>
    walking('fixed-window', { runs: 60, limits: limitsOf(kind), refund: true, back }, observer)

  it('refuses until retryAfter, then allows', () => {
    walk(
      () =>
        ({ taken, after, step: { at, cost } }) => {
          if (taken.allowed || taken.retryAfter === null) return
          expect(after.branch().peek(cost, at + taken.retryAfter - 1).allowed).toBe(false)
          expect(after.branch().peek(cost, at + taken.retryAfter).allowed).toBe(true)
        },
      true,
    )
  })

  it('is as good as new at resetAfter, and not before', () => {
    walk(
      () =>
        ({ limit: made, taken, after, step: { at } }) => {
          const later = at + taken.resetAfter
          const fresh = new Count(made).peek(made.quota, later)
          expect(after.branch().peek(made.quota, later).toJSON()).toEqual(fresh.toJSON())
          const isNewBefore = after.branch().peek(made.quota, later - 1).allowed
          expect(taken.resetAfter > 0 && isNewBefore).toBe(false)
        },
      true,
    )
  })

  it('leaves a count as it was when it refuses or looks', () => {
    walk(() => ({ taken, before, step: { at, cost } }) => {
      if (taken.allowed && cost > 0) return
      const again = before.branch()
      again.take(cost, at)
      expect(again.peek(0, at).toJSON()).toEqual(before.branch().peek(0, at).toJSON())
    })
  })
})

describe('windows from the first request', () => {
  it('begin with it, and last one window', () => {
    const count = new Count(limit({ quota: 2, window: 1000, anchor: 'first' }))
    expect(count.take(1, 1700).resetAfter).toBe(1000)
    expect(count.take(1, 2699)).toMatchObject({ allowed: true, resetAfter: 1 })
    expect(count.take(1, 2699)).toMatchObject({ allowed: false, retryAfter: 1 })
    expect(count.take(1, 2900)).toMatchObject({ allowed: true, remaining: 1, resetAfter: 1000 })
  })

  it('begin anew when everything was handed back', () => {
    const count = new Count(limit({ quota: 2, window: 1000, anchor: 'first' }))
    count.take(2, 0)
    count.refund(2, 500, 0)
    expect(count.take(1, 600).resetAfter).toBe(1000)
  })
})

describe('windows of the calendar', () => {
  it('end at midnight of the zone, on a day of 25 hours too', () => {
    const made = limit({ quota: 2, window: 'day', timeZone: 'Europe/Berlin' })
    const count = new Count(made)
    const start = Date.parse('2026-10-25T00:00:00+02:00')
    expect(count.take(2, start).resetAfter).toBe(25 * 3_600_000)
    expect(count.take(1, start + 24 * 3_600_000).retryAfter).toBe(3_600_000)
    expect(count.take(1, start + 25 * 3_600_000).allowed).toBe(true)
  })

  it('forget refunds of the period before', () => {
    const count = new Count(limit({ quota: 2, window: 'month' }))
    const taken = Date.parse('2026-10-31T23:59:00Z')
    count.take(2, taken)
    count.take(2, taken + 60_000)
    count.refund(2, taken + 120_000, taken)
    expect(count.peek(1, taken + 120_000).allowed).toBe(false)
  })
})
