// Requests of several checks in a store so large that their places are read ahead: the same verdicts as in a small one.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { limit } from '../../limit/limit.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import type { Check } from '../store.ts'
import { memoryStore } from './memory-store.ts'

const START = 1_800_000_000_000
/** More than the store needs to read ahead. */
const OTHERS = 9000
const three = limit('3/h')
const keys = ['a', 'b', 'x'.repeat(40), '限流', 'y'.repeat(200)]

const check = fc.record({
  space: fc.constantFrom('user', 'address', 'route'),
  key: fc.constantFrom(...keys),
  limit: fc.constant(three),
  cost: fc.integer({ min: 0, max: 2 }),
})
const step = fc.record({
  checks: fc.array(check, { minLength: 1, maxLength: 6 }),
  isReset: fc.boolean(),
})

it('a large store decides several checks as a small one does', () => {
  const clock = fakeClock(START)
  const large = memoryStore({ clock })
  for (let i = 0; i < OTHERS; i++)
    large.take([{ space: i % 2 === 0 ? 'user' : 'other', key: `k${i}`, limit: three, cost: 1 }])
  expect(large.stats().keys).toBe(OTHERS)
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const small = memoryStore({ clock })
      const seen = (checks: readonly Check[]): unknown[] =>
        [large, small].map((store) =>
          store.take(checks).map(({ allowed, remaining }) => ({ allowed, remaining })),
        )
      for (const { checks, isReset } of steps) {
        const [ofLarge, ofSmall] = seen(checks)
        expect(ofLarge).toEqual(ofSmall)
        if (isReset) for (const store of [large, small]) store.reset(checks)
      }
      for (const space of ['user', 'address', 'route'])
        large.reset(keys.map((key) => ({ space, key, limit: three, cost: 1 })))
      small.close()
    }),
  )
  large.close()
})
