// The lanes of the page: the decisions of the library, counted right.
import { ALGORITHMS } from 'sluice'
import { simulate } from 'sluice/simulator'
import { describe, expect, it } from 'vitest'
import { laneOf } from './compute.ts'
import { requestsOf } from './requests.ts'
import { DEFAULTS, type Settings } from './settings.ts'

const busy: Settings = { ...DEFAULTS, traffic: 'poisson', rate: 20, keys: 7, quota: 10, burst: 10 }

describe('a lane', () => {
  it.each(ALGORITHMS.filter((name) => DEFAULTS.algorithms.includes(name)))(
    'has the decisions of the simulator: %s',
    async (algorithm) => {
      const lane = laneOf(algorithm, busy, requestsOf(busy))
      const simulated = await simulate({
        lasts: busy.lasts * 1000,
        limit: lane.limit,
        mode: 'local',
        seed: busy.seed,
        traffic: [{ shape: 'poisson', rate: '2000/100s', keys: 7, zipf: 1 }],
      })
      expect([lane.requests, lane.allowed, lane.refused, lane.peak, lane.keysRefused]).toEqual([
        simulated.decisions,
        simulated.allowed,
        simulated.refused,
        simulated.peak,
        simulated.keys.hit,
      ])
    },
  )

  it('counts every request in one step of time', () => {
    const lane = laneOf('leaky-bucket', busy, requestsOf(busy))
    const { allowed, delayed, refused } = lane.steps
    const sum = (list: Uint32Array): number => list.reduce((a, b) => a + b, 0)
    expect(sum(allowed) + sum(delayed)).toBe(lane.allowed)
    expect(sum(delayed)).toBe(lane.delayed)
    expect(sum(refused)).toBe(lane.refused)
    expect(lane.delayed).toBeGreaterThan(0)
  })

  it('shows what is left between none and all', () => {
    const { level } = laneOf('token-bucket', busy, requestsOf(busy)).steps
    expect(Math.min(...level)).toBe(0)
    expect(Math.max(...level)).toBeGreaterThan(0.2)
    expect(Math.max(...level)).toBeLessThanOrEqual(1)
  })

  it('lets refused callers come back; with jitter they come less often', () => {
    const storm: Settings = { ...DEFAULTS, traffic: 'storm', rate: 50 }
    const plain = laneOf('token-bucket', storm, requestsOf(storm))
    const settings: Settings = { ...storm, traffic: 'jitter' }
    const jitter = laneOf('token-bucket', settings, requestsOf(settings))
    expect(plain.retries).toBeGreaterThan(2000)
    expect(jitter.requests).toBeLessThan(plain.requests)
    expect(jitter.allowed).toBeGreaterThan(plain.allowed)
  })

  it('draws by hand: nothing where nothing is drawn', () => {
    const drawn = DEFAULTS.drawn.map((_, i) => (i < 20 ? 0 : 50))
    const settings: Settings = { ...DEFAULTS, traffic: 'drawn', drawn, rate: 20, keys: 3 }
    const requests = requestsOf(settings)
    expect(requests.at[0]).toBeGreaterThanOrEqual(requests.lasts / 2)
    expect(requests.keys).toHaveLength(3)
    expect(requests.at.length).toBeGreaterThan(400)
    expect(requests.at.length).toBeLessThan(800)
  })
})
