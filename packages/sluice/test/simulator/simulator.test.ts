// The simulator: repeatable, honest about its scenarios, and right where the answer is known.
import { describe, expect, it } from 'vitest'
import { limit } from '../../src/limit/limit.ts'
import { excessOf } from '../../src/simulator/excess.ts'
import { Random, zipfRanks } from '../../src/simulator/random.ts'
import { simulate } from '../../src/simulator/simulate.ts'
import type { Scenario } from '../../src/simulator/scenario.ts'

const busy: Scenario = {
  lasts: '10s',
  limit: '100/s',
  pods: 5,
  traffic: [{ shape: 'poisson', rate: '400/s', keys: 10, zipf: 1 }],
  store: { latency: [1, 4] },
}

describe('a simulation', () => {
  it('repeats with its seed, and differs with another', async () => {
    const [one, again, other] = await Promise.all([
      simulate(busy),
      simulate(busy),
      simulate({ ...busy, seed: 2 }),
    ])
    expect(again).toEqual(one)
    expect(other.decisions).not.toBe(one.decisions)
  })

  it('counts every request once', async () => {
    const { decisions, allowed, refused, timeline, bySource } = await simulate(busy)
    const sum = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0)
    expect(allowed + refused).toBe(decisions)
    expect(sum(timeline.demand)).toBe(decisions)
    expect(sum(timeline.allowed)).toBe(allowed)
    expect(sum(timeline.refused)).toBe(refused)
    expect(sum(Object.values(bySource))).toBe(decisions)
  })

  it('admits what one decider admits when the store is strict and near', async () => {
    const traffic = [{ shape: 'steady', rate: '250/s' }] as const
    const result = await simulate({ ...busy, traffic, store: { latency: 0 } })
    expect(result.allowed).toBe(result.ideal)
    expect(result.allowed).toBe(1100 - 1)
    expect(result.excess).toBe(0)
  })

  it('shows what counters per pod let through: the limit times the pods', async () => {
    const traffic = [{ shape: 'steady', rate: '2000/s' }] as const
    const strict = await simulate({ ...busy, traffic })
    const perPod = await simulate({ ...busy, traffic, mode: 'per-pod' })
    expect(strict.excess).toBe(0)
    expect(perPod.allowed / strict.allowed).toBeGreaterThan(4.5)
    expect(perPod.storeCalls).toBe(0)
  })

  it('needs a round trip for each strict decision that no known refusal answers', async () => {
    const { storeCallsPerDecision, latency } = await simulate(busy)
    expect(storeCallsPerDecision).toBeGreaterThan(0.9)
    expect(latency.p50).toBeGreaterThan(1)
    expect(latency.max).toBeLessThanOrEqual(4 + 1e-9)
  })

  it('decides synced counts in the pods, and holds them to their formula', async () => {
    const traffic = [
      { shape: 'bursts', rate: '4000/s', on: 200, off: 1800, name: 'a' },
      { shape: 'poisson', rate: '20/s', name: 'a' },
    ] as const
    const result = await simulate({ ...busy, traffic, mode: 'synced', limit: '500/s' })
    expect(result.bySource.memory).toBeGreaterThan(500)
    expect(result.storeCallsPerDecision).toBeLessThan(0.5)
    const [shared] = result.bounds
    expect(shared).toMatchObject({ about: 'the shared store', holds: true })
    expect(shared!.units).toBeGreaterThan(0)
    // Bursts everywhere at once do exceed the limit.
    expect(shared!.measured).toBeGreaterThan(0)
  })

  it('answers an outage by the fallback, and counts what a crash loses', async () => {
    const result = await simulate({
      ...busy,
      faults: [
        { at: '2s', type: 'outage', lasts: '2s' },
        { at: '6s', type: 'crash', pod: 1, lasts: '1s' },
      ],
    })
    expect(result.bySource.fallback).toBeGreaterThan(300)
    expect(result.lost).toBeGreaterThan(0)
    expect(result.bounds.every(({ holds }) => holds)).toBe(true)
  })

  it('gives a suspended pod its requests when it goes on', async () => {
    const faults = [{ at: '2s', type: 'suspend', pod: 0, lasts: '3s' }] as const
    const result = await simulate({ ...busy, faults })
    expect(result.lost).toBe(0)
    expect(result.latency.max).toBeGreaterThan(2500)
  })

  it('keeps a key on one pod when it is sticky', async () => {
    const limit = { quota: 50, window: '1h', algorithm: 'fixed-window' } as const
    const sticky = await simulate({ ...busy, limit, mode: 'per-pod', routing: 'sticky' })
    const balanced = await simulate({ ...busy, limit, mode: 'per-pod' })
    expect(sticky.allowed).toBe(sticky.ideal)
    expect(sticky.excess).toBe(0)
    expect(balanced.excess).toBeGreaterThan(100)
  })

  it.each([0, 0.2, 0.8, 1])(
    'sends a share of %d to the first pod when it is skewed',
    async (skewed) => {
      // What the first pod gets is decided late, since it stands still to the end.
      const faults = [{ at: 0, type: 'suspend', pod: 0, lasts: '1h' }] as const
      const traffic = [{ shape: 'steady', rate: '1000/s' }] as const
      const scenario = { ...busy, limit: '1000000/s', traffic, mode: 'per-pod', faults } as const
      const { decisions } = await simulate({ ...scenario, pods: 2, routing: { skewed } })
      expect(Math.abs(1 - decisions / 10_000 - skewed)).toBeLessThan(0.02)
    },
  )

  it('acts late when the store stalls', async () => {
    const traffic = [{ shape: 'steady', rate: '100/s' }] as const
    const faults = [{ at: '2s', type: 'stall', lasts: '1s' }] as const
    const { bySource, lost } = await simulate({ ...busy, limit: '200/s', traffic, faults })
    expect(bySource.fallback).toBeGreaterThan(80)
    expect(bySource.fallback).toBeLessThan(130)
    expect(lost).toBe(0)
  })

  it('restarts one pod after the other, with what it counts itself', async () => {
    const limit = { quota: 3, window: '1h', algorithm: 'fixed-window' } as const
    const traffic = [{ shape: 'poisson', rate: '2000/s', keys: 40 }] as const
    const faults = [{ at: '2s', type: 'rolling-restart', lasts: '1s' }] as const
    const fleet = { ...busy, limit, traffic, pods: 4, mode: 'per-pod', routing: 'sticky' } as const
    expect((await simulate(fleet)).allowed).toBe(40 * 3)
    const restarted = await simulate({ ...fleet, faults })
    // A key moves to the next pod and back: a limit more each time, as docs/operate/scaling.md says.
    expect(restarted.excess).toBe(2 * 3)
    expect(restarted.allowed).toBeLessThanOrEqual(40 * 9)
  })

  it('drops by the estimated rate of the fleet, and promises nothing', async () => {
    const traffic = [{ shape: 'poisson', rate: '2000/s' }] as const
    const { allowed, decisions, bounds, storeCalls } = await simulate({
      ...busy,
      traffic,
      mode: 'drop',
    })
    // 100 of 2000 are allowed, and more at the beginning, when a pod has seen few requests.
    expect(allowed / decisions).toBeGreaterThan(0.045)
    expect(allowed / decisions).toBeLessThan(0.07)
    expect(bounds).toEqual([])
    expect(storeCalls).toBe(0)
  })

  it('hands out a burst again when the store loses its writes', async () => {
    const traffic = [{ shape: 'steady', rate: '1000/s' }] as const
    const result = await simulate({ ...busy, traffic, faults: [{ at: '5s', type: 'failover' }] })
    expect(result.excess).toBeGreaterThan(95)
    expect(result.bounds[0]).toMatchObject({ units: 100, measured: result.excess, holds: true })
  })

  it('lets refused callers try again, at the reset or spread out', async () => {
    const herd: Scenario = {
      lasts: '3min',
      limit: { quota: 10, window: '1min', algorithm: 'fixed-window' },
      traffic: [
        { shape: 'once', count: 200, retry: { attempts: 5, wait: 'retry-after', jitter: false } },
      ],
    }
    const together = await simulate(herd)
    const retry = { attempts: 5, wait: 'retry-after', jitter: true } as const
    const spread = await simulate({ ...herd, traffic: [{ ...herd.traffic[0]!, retry }] })
    expect(together.retries).toBeGreaterThan(300)
    const peak = ({ timeline }: typeof together): number => Math.max(...timeline.demand.slice(10))
    expect(peak(spread)).toBeLessThan(peak(together) / 3)
  })
})

describe('a scenario', () => {
  it.each([
    [{ lasts: undefined }, 'scenario: lasts is undefined'],
    [{ traffic: [] }, 'scenario: traffic is []'],
    [{ pods: 0 }, 'scenario: pods is 0; accepted: a whole number, from 1 to 10000'],
    [{ mode: 'leesed' }, 'scenario: mode is "leesed"; accepted: strict,'],
    [{ trafic: [] }, 'did you mean traffic'],
    [{ routing: { skewed: 2 } }, 'scenario: routing'],
    [{ store: { latency: -1 } }, 'scenario.store: latency is -1'],
    [{ traffic: [{ shape: 'steady' }] }, 'scenario.traffic[0]: rate is undefined'],
    [{ traffic: [{ shape: 'once' }] }, 'scenario.traffic[0]: count is undefined'],
    [{ traffic: [{ shape: 'waves', rate: '1/s' }] }, 'scenario.traffic[0]: shape is "waves"'],
    [{ faults: [{ at: '1s', type: 'flood' }] }, 'scenario.faults[0]: type is "flood"'],
    [{ faults: [{ at: '1s', type: 'crash', pod: 9 }] }, 'scenario.faults[0]: pod is 9'],
  ])('names a mistake by its place: %j', async (fields, message) => {
    const wrong = { ...busy, ...fields } as unknown as Scenario
    await expect(simulate(wrong)).rejects.toThrow(message)
  })
})

describe('excess over a limit', () => {
  const at = (...instants: number[]): { at: number; cost: number }[] =>
    instants.map((instant) => ({ at: instant, cost: 1 }))
  const made = (algorithm: 'token-bucket' | 'sliding-log' | 'fixed-window') =>
    limit({ algorithm, quota: 2, window: 1000 })

  it.each([
    ['token-bucket', at(0, 0, 500), 0],
    ['token-bucket', at(0, 0, 499), 1],
    ['token-bucket', at(0, 0, 0, 0, 5000), 2],
    ['sliding-log', at(0, 999, 1000), 0],
    ['sliding-log', at(0, 500, 999), 1],
    ['fixed-window', at(998, 999, 1000, 1001), 0],
    ['fixed-window', at(1000, 1500, 1999), 1],
  ] as const)('%s: %j', (algorithm, admitted, excess) => {
    expect(excessOf(made(algorithm), admitted)).toBe(excess)
  })
})

describe("ranks by Zipf's law", () => {
  it.each([0.5, 1, 1.1, 2])('are drawn as often as the law says, exponent %d', (exponent) => {
    const ranks = zipfRanks(100, exponent, new Random(7))
    const drawn = new Array<number>(100).fill(0)
    for (let i = 0; i < 100_000; i++) drawn[ranks()]! += 1
    let sum = 0
    for (let rank = 1; rank <= 100; rank++) sum += rank ** -exponent
    for (const rank of [1, 2, 10]) {
      const expected = (100_000 * rank ** -exponent) / sum
      expect(Math.abs(drawn[rank - 1]! - expected)).toBeLessThan(5 * Math.sqrt(expected) + 1)
    }
  })
})
