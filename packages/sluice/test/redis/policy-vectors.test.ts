// The vectors of spec/policies are true of limiters on Redis.
import { expect, it } from 'vitest'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { policyCases, runPolicyCase } from '../policy-vectors.ts'
import { patientStore } from './asking.ts'
import { oneServer } from './one-server.ts'

const redis = oneServer()

it.each(policyCases)('Redis: $name', async (vector) => {
  const clock = fakeClock()
  const prefix = `v${policyCases.indexOf(vector)}:`
  const store = patientStore(redis.client, { clock, prefix, holdRefusals: 250 })
  const limiter = createLimiter({ policy: vector.policy, store, resilience: false })
  const { got, expected } = await runPolicyCase(vector, async (step) => {
    clock.set(step.at)
    const { do: verb = 'check', attributes, cost, takenAt, pools } = step
    if (verb === 'refund') return limiter.refund(attributes, cost, takenAt, pools)
    if (verb === 'reset' || verb === 'countFailure') return limiter[verb](attributes)
    return limiter[verb](attributes, cost)
  })
  expect(got).toEqual(expected)
})
