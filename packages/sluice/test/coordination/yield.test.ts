import { describe, expect, it } from 'vitest'
import { limit, type Limit } from '../../src/limit/limit.ts'
import { Random } from '../redis/random.ts'
import { excessOf } from './bounds.ts'
import { LeaseFleet, leasedCheck } from './lessees.ts'

/** One request in this many milliseconds, of the process with this number; the traffic of a fleet over time. */
interface Traffic {
  readonly every: number
  /** The process that receives the request. */
  readonly to: (random: Random) => number
  /** Whether there are requests at an instant, from the start. */
  readonly isOn?: (elapsed: number) => boolean
}

interface Yield {
  readonly share: number
  readonly callsPerDecision: number
  readonly excess: number
}

/** What 8 processes with leases admit, as a share of what one strict bucket admits of the same requests. */
async function yieldOf(rule: Limit, { every, to, isOn = () => true }: Traffic): Promise<Yield> {
  const random = new Random(7)
  const link = { latency: 0.5, lostCalls: 0, lostAnswers: 0 }
  const fleet = new LeaseFleet(random, 8, {}, link)
  const { time, processes, shared } = fleet
  const start = time.now
  const strict = { space: 'strict', key: 'k', limit: rule, cost: 1 }
  let admittedByStrict = 0
  while (time.now - start < 20_000) {
    await time.pass(every)
    if (!isOn(time.now - start)) continue
    if (shared.take([strict])[0]!.allowed) admittedByStrict += 1
    processes[to(random)]!.check([leasedCheck(rule)])
  }
  await time.pass(100)
  const decisions = processes.reduce((sum, one) => sum + one.decisions, 0)
  const calls = processes.reduce((sum, one) => sum + one.calls, 0)
  return {
    share: fleet.unitsOf('k') / admittedByStrict,
    callsPerDecision: calls / decisions,
    excess: excessOf(rule, fleet.admitted.get('k')!).units,
  }
}

const EVEN = (random: Random): number => random.whole(0, 7)
const SKEWED = (random: Random): number => (random.chance(0.8) ? 0 : random.whole(1, 7))
const BURSTS = (elapsed: number): boolean => elapsed % 2000 < 500

describe('leases of 8 processes', () => {
  it.each<[name: string, rule: Limit, traffic: Traffic, least: number]>([
    ['twice the limit, evenly', limit('500/s'), { every: 1, to: EVEN }, 0.98],
    ['just the limit, evenly', limit('1000/s'), { every: 1, to: EVEN }, 0.98],
    ['half of the limit, evenly', limit('2000/s'), { every: 1, to: EVEN }, 0.98],
    ['twice the limit, 80 % to one', limit('500/s'), { every: 1, to: SKEWED }, 0.95],
    ['a small limit, evenly', limit('300/min'), { every: 20, to: EVEN }, 0.98],
    ['bursts and pauses', limit('500/s'), { every: 1, to: EVEN, isOn: BURSTS }, 0.95],
    [
      'bursts in fixed windows',
      limit({ quota: 500, window: '1s', algorithm: 'fixed-window' }),
      { every: 1, to: EVEN, isOn: BURSTS },
      0.95,
    ],
    [
      'twice a sliding log',
      limit({ quota: 500, window: '1s', algorithm: 'sliding-log' }),
      { every: 1, to: EVEN },
      0.98,
    ],
    [
      'twice a sliding window',
      limit({ quota: 500, window: '1s', algorithm: 'sliding-window' }),
      { every: 1, to: EVEN },
      0.98,
    ],
  ])('admit nearly all that strict does of %s', async (_, rule, traffic, least) => {
    const { share, excess } = await yieldOf(rule, traffic)
    expect(excess).toBeLessThanOrEqual(1e-6)
    expect(share).toBeGreaterThanOrEqual(least)
  })
})

describe('leases in a long window', () => {
  const algorithms = ['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket'] as const

  it.each(algorithms.flatMap((algorithm) => [1, 4].map((processes) => ({ algorithm, processes }))))(
    'lose no unit of a key that is met now and then, and need no more calls than strict: $algorithm, $processes processes',
    async ({ algorithm, processes }) => {
      const rule = limit({ quota: 1000, window: '6h', algorithm })
      const { fleet, left } = await longWindow(rule, processes, { requests: 900, every: 500 })
      expect(fleet.unitsOf('k')).toBe(900)
      // A bucket refills meanwhile.
      expect(left).toBeGreaterThanOrEqual(100)
      expect(sum(fleet.processes, (one) => one.calls)).toBeLessThanOrEqual(900)
    },
  )

  it.each(algorithms)('give back what a burst of requests has not spent: %s', async (algorithm) => {
    const rule = limit({ quota: 10_000, window: '30d', algorithm })
    const { fleet, left } = await longWindow(rule, 4, { requests: 2000, every: 1 })
    expect(fleet.unitsOf('k')).toBe(2000)
    expect(left).toBeGreaterThanOrEqual(8000)
  })
})

/** The requests of one key to random processes, and what the store has left once they are idle. */
async function longWindow(
  rule: Limit,
  processes: number,
  { requests, every }: { readonly requests: number; readonly every: number },
): Promise<{ readonly fleet: LeaseFleet; readonly left: number }> {
  const random = new Random(3)
  const link = { latency: 0.5, lostCalls: 0, lostAnswers: 0 }
  const fleet = new LeaseFleet(new Random(1), processes, {}, link)
  const { time } = fleet
  await time.pass(rule.window - (time.now % rule.window) + 1)
  for (let i = 0; i < requests; i++) {
    random.pick(fleet.processes).check([leasedCheck(rule)])
    await time.pass(every)
  }
  await time.pass(5000)
  const [verdict] = fleet.shared.peek([{ ...leasedCheck(rule), holds: true }])
  return { fleet, left: verdict!.remaining }
}

function sum<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((total, one) => total + of(one), 0)
}
