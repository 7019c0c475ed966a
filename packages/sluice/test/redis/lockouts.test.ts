// Lockouts in Redis answer as those in memory do, to the last bit, in random walks.
import { expect, it } from 'vitest'
import { lengthOf } from '../../../../test/length.ts'
import type { Decision } from '../../src/decision/decision.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { patientStore } from './asking.ts'
import { oneServer } from './one-server.ts'
import { Random, SEED } from './random.ts'

const redis = oneServer()
const MINUTE = 60_000

it.each([0, 250])(
  'locks out as memory does, with refusals held for %i ms',
  async (holdRefusals) => {
    const random = new Random(SEED)
    for (let walk = 0; walk < lengthOf(6, 60); walk++) {
      const clock = fakeClock(1_800_000_000_000)
      const after = random.whole(1, 4)
      const lockout = { after, for: '5min', grow: random.whole(1, 3), upTo: '1h' } as const
      const algorithm = random.pick(['token-bucket', 'fixed-window', 'sliding-log'] as const)
      const limit = { quota: 2, window: '1min', algorithm } as const
      const policy = {
        name: 'api',
        rules: [
          { name: 'login', by: ['account'], limit, lockout },
          { name: 'all', by: [], limit: '30/min' },
        ],
      }
      const store = patientStore(redis.client, {
        clock,
        prefix: `l${holdRefusals}-${walk}:`,
        holdRefusals,
      })
      const remote = createLimiter({ policy, store, resilience: false })
      const local = createLimiter({ policy, store: memoryStore({ clock }) })
      for (let step = 0; step < 150; step++) {
        const account = random.pick(['ann', 'bob'])
        const cost = random.pick([0, 1, 1, 1, 2, 3])
        const what = random.chance(0.05)
          ? 'reset'
          : random.chance(0.1)
            ? 'countFailure'
            : random.chance(0.2)
              ? 'peek'
              : 'check'
        const expected = await local[what]({ account }, cost)
        const found = await remote[what]({ account }, cost)
        expect(shown(found)).toBe(shown(expected))
        clock.advance(random.pick([0, 0, 0, 1, 1000, MINUTE, 5 * MINUTE, 20 * MINUTE]))
      }
    }
  },
)

/** A decision without what differs between stores. */
function shown(decision: Decision | void): string {
  return JSON.stringify(decision ?? null).replaceAll(/"source":"\w+"/g, '')
}
