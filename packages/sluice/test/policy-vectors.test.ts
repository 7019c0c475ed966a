// The vectors of spec/policies are true of limiters on the memory store.
import { expect, it } from 'vitest'
import { createLimiter } from '../src/limiter/create-limiter.ts'
import { memoryStore } from '../src/stores/memory/memory-store.ts'
import { fakeClock } from '../src/testing/fake-clock.ts'
import { policyCases, runPolicyCase } from './policy-vectors.ts'

it.each(policyCases)('memory: $name', async (vector) => {
  const clock = fakeClock()
  const limiter = createLimiter({ policy: vector.policy, store: memoryStore({ clock }) })
  const { got, expected } = await runPolicyCase(vector, (step) => {
    clock.set(step.at)
    const { do: verb = 'check', attributes, cost, takenAt, pools } = step
    if (verb === 'refund') return limiter.refund(attributes, cost, takenAt, pools)
    if (verb === 'reset' || verb === 'countFailure') return limiter[verb](attributes)
    return limiter[verb](attributes, cost)
  })
  expect(got).toEqual(expected)
})
