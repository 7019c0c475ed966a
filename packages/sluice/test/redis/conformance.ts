// What every client must pass on every kind of server: the conformance suite and the vectors.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Limit } from '../../src/limit/limit.ts'
import type { Check } from '../../src/stores/store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { testStore } from '../../src/testing/test-store.ts'
import { runVectorCase, type VectorFile, type VectorSubject } from '../../src/testing/vectors.ts'
import { KINDS } from '../kinds.ts'
import { patientStore } from './asking.ts'
import type { Connect, Connected } from './clients.ts'

const START = 1_800_000_000_000

const vectors = KINDS.map((algorithm) => {
  const path = new URL(`../../../../spec/algorithms/${algorithm}.json`, import.meta.url)
  return JSON.parse(readFileSync(path, 'utf8')) as VectorFile
})

/** Runs everything through one client. Each case has keys of its own, under a prefix that nobody else uses. */
export function conforms<Target>(
  name: string,
  connect: Connect<Target>,
  target: () => Target,
): void {
  describe(`${name}`, () => {
    let connected: Connected
    let cases = 0
    beforeAll(async () => {
      connected = await connect(target())
    }, 30_000)
    afterAll(() => connected?.close())
    const prefix = (): string => `${name.replaceAll(' ', '-')}-${++cases}:`

    const make = () => {
      const clock = fakeClock(START)
      const store = patientStore(connected.client, { clock, prefix: prefix(), holdRefusals: 250 })
      return { store, advance: (millis: number) => clock.advance(millis) }
    }
    for (const one of testStore(make))
      it(`${one.name}`, () => expect(one.run()).resolves.toBeUndefined(), 30_000)

    describe.each(vectors)('vectors of $algorithm', ({ cases }) => {
      it.each(cases)(
        '$name',
        async (vector) => {
          const steps = await runVectorCase(vector, subject(connected, prefix()))
          expect(steps).toBe(vector.steps.length)
        },
        30_000,
      )
    })
  })
}

/** A store under a clock that the vectors set. */
function subject({ client }: Connected, prefix: string): VectorSubject {
  const clock = fakeClock()
  const store = patientStore(client, { clock, prefix, holdRefusals: 250 })
  const check = (limit: Limit, cost: number): Check => ({ space: 'v', key: 'key', limit, cost })
  return {
    begin: () => {},
    async take(limit, cost, now) {
      clock.set(now)
      return (await store.take([check(limit, cost)]))[0]!
    },
    async peek(limit, cost, now) {
      clock.set(now)
      return (await store.peek([check(limit, cost)]))[0]!
    },
    async refund(limit, cost, now, takenAt) {
      clock.set(now)
      await store.refund([{ ...check(limit, cost), takenAt }])
    },
  }
}
