import { describe, expect, it } from 'vitest'
import { lengthOf } from '../../../../test/length.ts'
import { limit, type AlgorithmName } from '../../src/limit/limit.ts'
import type { Check } from '../../src/stores/store.ts'
import { Random } from '../redis/random.ts'
import { excessOf } from './bounds.ts'
import { LeaseFleet, leasedCheck } from './lessees.ts'

const LEASABLE: readonly AlgorithmName[] = [
  'token-bucket',
  'gcra',
  'fixed-window',
  'sliding-window',
  'sliding-log',
]

/** A second rule, which refuses nearly always: what leases gave goes back. */
const SPENT: Check = { space: 'strict', key: 'spent', limit: limit('1/h'), cost: 1 }

/** One random fleet with every kind of fault; the worst excess over the strict bound. */
async function walk(algorithm: AlgorithmName, seed: number): Promise<number> {
  const random = new Random(seed)
  const quota = random.whole(1, 400)
  const window = random.pick([200, 1000, 3000])
  const hasBurst = algorithm === 'token-bucket' || algorithm === 'gcra'
  const rule = limit({ algorithm, quota, window, ...(hasBurst && { burst: random.whole(1, 300) }) })
  const link = {
    latency: random.pick([0.2, 2, 40]),
    lostCalls: random.pick([0, 0.05]),
    lostAnswers: random.pick([0, 0.05]),
  }
  const life = random.pick([200, 500, 2000])
  const fleet = new LeaseFleet(random, random.whole(1, 8), { life }, link)
  const { time, processes } = fleet
  const perRequest = window / quota / random.pick([0.5, 2, 10])
  const refuses = random.chance(0.3)
  const requests = lengthOf(250, 500)
  for (let i = 0; i < requests; i++) {
    await time.pass(random.chance(0.02) ? random.next() * 2 * life : random.next() * 2 * perRequest)
    const one = random.chance(0.5) ? processes[0]! : random.pick(processes)
    const cost = random.chance(0.1) ? random.whole(1, Math.max(1, Math.floor(rule.burst / 4))) : 1
    const check = leasedCheck(rule, 'k', cost, random.chance(0.5) ? 'leased' : 'auto')
    one.check(refuses && random.chance(0.5) ? [check, SPENT] : [check])
    if (random.chance(0.01))
      random.pick(processes).stop(random.next() * 3 * life, random.chance(0.5))
    if (random.chance(0.003)) random.pick(processes).crash()
  }
  await time.pass(3 * life)
  return excessOf(rule, fleet.admitted.get('k') ?? []).units
}

describe('leases over a fleet', () => {
  const seeds = lengthOf(40, 2500)
  it.each(LEASABLE)('admit no more than %s does without leases, in any span', async (algorithm) => {
    for (let seed = 1; seed <= seeds; seed++) {
      const excess = await walk(algorithm, seed)
      expect({ seed, excess: Math.max(0, Math.round(excess * 1e6) / 1e6) }).toEqual({
        seed,
        excess: 0,
      })
    }
  })
})
