// Random fleets, traffic and faults: what a mode promises holds in every span of every run.
import { describe, expect, it, vi } from 'vitest'
import { lengthOf } from '../../../../test/length.ts'
import { ALGORITHMS, limit } from '../../src/limit/limit.ts'
import { MODES } from '../../src/simulator/modes.ts'
import { Random } from '../../src/simulator/random.ts'
import { simulate } from '../../src/simulator/simulate.ts'
import { MODE_NAMES } from '../../src/simulator/scenario.ts'
import type { Fault, Routing, Scenario, Traffic } from '../../src/simulator/scenario.ts'

vi.setConfig({ testTimeout: 3_600_000 })

const SEEDS = lengthOf(50, 10_000)
/**
 * Seeds that once broke a bound: a window that the pod was late to begin, refunds into a lease that was spent later, and
 * units taken in a new window that an answer of the old one charged there.
 */
const FOUND = [446, 1616, 8108, 1982]
const modes = MODE_NAMES.filter((mode) => MODES[mode].isBounded)

/** A scenario that a seed describes, for one mode. */
function scenarioOf(seed: number): Scenario {
  const random = new Random(seed)
  const between = (least: number, most: number): number => least + random.below(most - least + 1)
  const pick = <T>(of: readonly T[]): T => of[random.below(of.length)]!
  const algorithm = pick(ALGORITHMS)
  const window = pick([100, 1000, 2000])
  const quota = between(1, 60)
  const hasBurst = ['token-bucket', 'gcra', 'leaky-bucket'].includes(algorithm)
  const pods = between(1, 8)
  const lasts = 6000
  const rate = `${Math.ceil((quota * 1000 * pick([0.5, 1, 2, 6])) / window)}/s`
  const kinds: readonly Traffic[] = [
    { shape: 'poisson', rate, keys: pick([1, 1, 5]), zipf: 1 },
    { shape: 'steady', rate },
    { shape: 'bursts', rate, on: pick([100, 500]), off: pick([200, 1500]) },
    { shape: 'edges', count: quota, spread: pick([1, 20]) },
    { shape: 'once', count: 2 * quota, from: 2000, retry: { attempts: 3, wait: 'retry-after' } },
  ]
  const fault = (): Fault => ({
    at: between(500, 4000),
    type: pick(['outage', 'stall', 'failover', 'crash', 'suspend', 'rolling-restart'] as const),
    lasts: pick([50, 300, 1200]),
    pod: random.below(pods),
    lost: pick([0, 50, 500]),
  })
  return {
    name: `seed ${seed}`,
    seed,
    lasts,
    limit: limit({ algorithm, quota, window, ...(hasBurst && { burst: between(1, 2 * quota) }) }),
    traffic: [pick(kinds), pick(kinds)],
    mode: pick(modes),
    pods,
    routing: pick<Routing>(['balanced', 'sticky', { skewed: 0.8 }]),
    store: {
      latency: pick([0, 0.5, 3, [1, 30], [1, 120]] as const),
      onFailure: pick(['local', 'closed'] as const),
    },
    faults: Array.from({ length: between(0, 3) }, fault),
  }
}

describe('random fleets', () => {
  it(`keep every bound: ${SEEDS} seeds`, async () => {
    let decisions = 0
    const seeds = [...FOUND, ...Array.from({ length: SEEDS }, (_, i) => i + 1)]
    for (const seed of seeds) {
      const result = await simulate(scenarioOf(seed))
      decisions += result.decisions
      expect(result.bounds.length, `seed ${seed}`).toBeGreaterThan(0)
      for (const bound of result.bounds)
        expect(bound, `seed ${seed}: ${JSON.stringify(scenarioOf(seed))}`).toMatchObject({
          holds: true,
        })
    }
    expect(decisions).toBeGreaterThan(SEEDS * 100)
  })
})
