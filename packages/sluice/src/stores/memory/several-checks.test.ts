// Requests of several checks: plain ones of counts that are known take a way of their own, with the same verdicts.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { limit } from '../../limit/limit.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import type { Check } from '../store.ts'
import { memoryStore } from './memory-store.ts'

const START = 1_800_000_000_000
const limits = [limit('3/h'), limit({ quota: 3, window: '1h', algorithm: 'sliding-window' })]
const keys = ['a', 'b', 'x'.repeat(40), '限流', 'y'.repeat(200)]

const check = fc
  .record({
    rule: fc.constantFrom('user', 'address', 'route', 'tenant', 'model'),
    key: fc.constantFrom(...keys),
    kind: fc.constantFrom(0, 1),
    cost: fc.integer({ min: 0, max: 2 }),
    countRefused: fc.boolean(),
  })
  .map(({ rule, kind, ...rest }) => ({ ...rest, space: `${rule}-${kind}`, limit: limits[kind]! }))
const step = fc.record({
  checks: fc.array(check, { minLength: 2, maxLength: 8 }),
  isReset: fc.boolean(),
  passed: fc.constantFrom(0, 1, 1_200_000, -5),
})

/** A check beside others that no shorter way is for, and that changes no verdict. */
const shadow: Check = { space: 'beside', key: 'k', limit: limit('1/h'), cost: 0, shadow: true }

it('plain checks of known counts are answered as they are beside a shadow check', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const clock = fakeClock(START)
      const [one, other] = [memoryStore({ clock }), memoryStore({ clock })]
      for (const { checks, isReset, passed } of steps) {
        clock.advance(passed)
        const verdicts = one.take(checks)
        expect(other.take([...checks, shadow]).slice(0, -1)).toEqual(verdicts)
        expect(other.peek(checks)).toEqual(one.peek(checks))
        if (isReset) for (const store of [one, other]) store.reset(checks.slice(0, 1))
      }
      one.close()
      other.close()
    }),
  )
})
