import { describe, expect, it } from 'vitest'
import { lengthOf } from '../../../../test/length.ts'
import { limit } from '../../src/limit/limit.ts'
import type { Verdict } from '../../src/limit/verdict.ts'
import { Random } from '../redis/random.ts'
import { excessOf } from './bounds.ts'
import { LeaseFleet, leasedCheck, type Process } from './lessees.ts'

const RULE = limit({ algorithm: 'token-bucket', quota: 1000, window: '1s', burst: 4096 })
const CHECK = leasedCheck(RULE)
const LIFE = 2000
const LINK = { latency: 0, lostCalls: 0, lostAnswers: 0 }

/** Processes on a store that tells its epoch; each has met {@link CHECK} twice, and another key before. */
async function meeting(processes: number, rule = RULE, every = 1000): Promise<LeaseFleet> {
  const CHECK = leasedCheck(rule)
  const fleet = new LeaseFleet(new Random(1), processes, { life: LIFE }, LINK)
  fleet.epoch = 1
  for (const process of fleet.processes) {
    process.check([leasedCheck(rule, 'first')])
    await fleet.time.pass(10)
    process.check([CHECK])
    await fleet.time.pass(every)
    process.check([CHECK])
    await fleet.time.pass(10)
  }
  return fleet
}

function isFromLease({ store }: Process): boolean {
  return store.takeNow([CHECK]) !== undefined
}

function leftAtStore({ shared }: LeaseFleet): Verdict {
  return shared.peek([{ ...CHECK, holds: true }])[0]!
}

/** Of a burst of which 64 units are 1/4096, and what is drained of it in 100 ms. */
const LARGE = limit({ algorithm: 'token-bucket', quota: 2_621_440, window: '1s', burst: 262_144 })

describe('very few units, leased for the longest life', () => {
  /** Whether a lease of the first process covers the key, after so many milliseconds. */
  async function isCovered(fleet: LeaseFleet, wait: number): Promise<boolean> {
    const [process] = fleet.processes
    await fleet.time.pass(wait)
    process!.check([leasedCheck(LARGE, 'another')])
    await fleet.time.pass(1)
    return process!.store.takeNow([leasedCheck(LARGE)]) !== undefined
  }

  it('cover a key that is met every 35 seconds for a minute', async () => {
    const fleet = await meeting(1, LARGE, 25_000)
    expect(await isCovered(fleet, 35_000)).toBe(true)
    expect(await isCovered(fleet, 35_000)).toBe(false)
  })

  it('are renewed before their end where they were spent again and again, and else lapse', async () => {
    const fleet = await meeting(1, LARGE, 20_000)
    // Three times the life of a lease: no request waits.
    for (let i = 0; i < 9; i++) expect(await isCovered(fleet, 20_000)).toBe(true)
    await fleet.time.pass(125_000)
    expect(await isCovered(fleet, 0)).toBe(false)
    await fleet.time.pass(65_000)
    expect(fleet.shared.peek([{ ...leasedCheck(LARGE), holds: true }])[0]).toMatchObject({
      remaining: LARGE.burst,
    })
  })

  it('keep no more units than the next life needs', async () => {
    const fleet = await meeting(1, LARGE, 10_000)
    for (let i = 0; i < 3; i++) expect(await isCovered(fleet, 25_000)).toBe(true)
    const [verdict] = fleet.processes[0]!.store.takeNow([leasedCheck(LARGE)])!
    expect(verdict!.remaining).toBeLessThan(8)
  })

  it.each([
    { perSecond: 0.5, part: 4096, lives: 30 },
    { perSecond: 10, part: 256, lives: 10 },
  ])(
    'at $perSecond requests a second a crash strands 1/$part of a burst at most, for $lives lives',
    async ({ perSecond, part, lives }) => {
      const check = leasedCheck(LARGE)
      const fleet = await meeting(1, LARGE, 1000 / perSecond)
      const [process] = fleet.processes
      // From slow to its own pace: what is out for longer than so many units may be must be replaced.
      for (let i = 0; i < 30 * perSecond; i++) {
        process!.check([check])
        await fleet.time.pass(1000 / perSecond)
      }
      process!.check([leasedCheck(LARGE, 'another')])
      await fleet.time.pass(1)
      const stranded = process!.store.takeNow([check])![0]!.remaining
      expect(stranded).toBeGreaterThan(1)
      expect(stranded).toBeLessThanOrEqual(LARGE.burst / part)
      process!.crash()
      const seen = (): number =>
        fleet.shared.peek([{ ...check, holds: true }])[0]!.remaining - LARGE.burst
      expect(seen()).toBeLessThan(0)
      await fleet.time.pass(lives * LIFE + 200)
      expect(seen()).toBe(0)
    },
  )

  it('go back when the key is asked for more often, before more of them are leased', async () => {
    const fleet = await meeting(1, LARGE, 5000)
    const [process] = fleet.processes
    const check = leasedCheck(LARGE)
    for (let i = 0; i < 600; i++) {
      process!.check([check])
      await fleet.time.pass(50)
    }
    process!.crash()
    await fleet.time.pass(10 * LIFE + 200)
    expect(fleet.shared.peek([{ ...check, holds: true }])[0]).toMatchObject({
      remaining: LARGE.burst,
    })
  })

  it('prolong what a decision promises by no more than leases of its limit can last', async () => {
    const resetAfter = async (burst: number): Promise<number> => {
      const rule = limit({ algorithm: 'token-bucket', quota: burst * 10, window: '1s', burst })
      const fleet = await meeting(1, rule)
      const { processes } = fleet
      for (let i = 0; i < 40; i++) processes[0]!.check([leasedCheck(rule)])
      await fleet.time.pass(10)
      return processes[0]!.store.takeNow([leasedCheck(rule)])![0]!.resetAfter!
    }
    expect(await resetAfter(500)).toBe(LIFE + 100)
    expect(await resetAfter(5000)).toBe(10 * LIFE + 100)
    expect(await resetAfter(8192)).toBe(30 * LIFE + 100)
  })
})

describe('few units, leased for a long life', () => {
  it('cover a key that is met every few seconds, from its second request on', async () => {
    const fleet = await meeting(1)
    const [process] = fleet.processes
    const before = process!.calls
    const elsewhere = 10
    for (let i = 0; i < elsewhere; i++) {
      await fleet.time.pass(1500)
      process!.check([leasedCheck(RULE, `key ${i}`)])
      await fleet.time.pass(1)
      expect(isFromLease(process!)).toBe(true)
    }
    expect(process!.calls).toBe(before + elsewhere)
  })

  it('are few: no more than 1/256 of the burst, also after a burst of requests', async () => {
    const fleet = await meeting(1)
    const [process] = fleet.processes
    expect(process!.store.takeNow([CHECK])![0]!.remaining).toBeLessThan(RULE.burst / 256)
    await fleet.time.pass(4000)
    expect(leftAtStore(fleet).remaining).toBeGreaterThanOrEqual(RULE.burst - RULE.burst / 256)
  })

  it('are spent only while the store has answered within one life, and again after its next answer', async () => {
    const fleet = await meeting(1)
    const [process] = fleet.processes
    await fleet.time.pass(LIFE - 100)
    expect(isFromLease(process!)).toBe(true)
    await fleet.time.pass(100)
    expect(isFromLease(process!)).toBe(false)
    process!.check([leasedCheck(RULE, 'another')])
    await fleet.time.pass(1)
    expect(isFromLease(process!)).toBe(true)
  })

  it('are void when the store has lost its record: with what it grants later, no more than the burst is admitted', async () => {
    const fleet = await meeting(8)
    const { processes, time } = fleet
    for (const process of processes) process.check([leasedCheck(RULE, 'another')])
    await time.pass(1)
    expect(processes.every(isFromLease)).toBe(true)
    fleet.lose()
    await time.pass(LIFE)
    const from = time.now
    processes[0]!.check([leasedCheck(RULE, 'k', RULE.burst)])
    for (const process of processes) for (let i = 0; i < 20; i++) process.check([CHECK])
    await time.pass(1)
    for (const process of processes) for (let i = 0; i < 20; i++) process.check([CHECK])
    await time.pass(1)
    const after = fleet.admitted.get('k')!.filter(({ at }) => at >= from)
    expect(after.length).toBeGreaterThan(0)
    expect(excessOf(RULE, after).units).toBeLessThanOrEqual(0)
  })

  it('are not added to what was leased before a loss that is noticed with the same answer', async () => {
    const fleet = await meeting(1)
    const [process] = fleet.processes
    fleet.lose()
    await fleet.time.pass(LIFE)
    for (let i = 0; i < 2; i++) {
      process!.check([CHECK])
      await fleet.time.pass(1)
      const [verdict] = process!.store.takeNow([CHECK]) ?? []
      const gone = RULE.burst - leftAtStore(fleet).remaining
      expect(verdict?.remaining ?? 0).toBeLessThanOrEqual(gone)
    }
    expect(isFromLease(process!)).toBe(true)
  })

  it('give way to a short lease when the key becomes hot, so that a crash strands many units for one life only', async () => {
    const fleet = await meeting(1)
    const [process] = fleet.processes
    for (let i = 0; i < 3000; i++) {
      process!.check([CHECK])
      await fleet.time.pass(1)
    }
    const { remaining } = process!.store.takeNow([CHECK])![0]!
    expect(remaining).toBeGreaterThan(RULE.burst / 256)
    process!.crash()
    await fleet.time.pass(LIFE + Math.ceil((RULE.burst * 1000) / RULE.quota))
    expect(leftAtStore(fleet)).toMatchObject({ remaining: RULE.burst })
  })

  it('are given back by close', async () => {
    const fleet = await meeting(1)
    const closed = fleet.processes[0]!.store.close()
    await fleet.time.pass(10)
    await closed
    expect(leftAtStore(fleet)).toMatchObject({ remaining: RULE.burst, resetAfter: 0 })
  })

  it('wait, in what a decision promises, no shorter than a long lease lasts', async () => {
    const { processes } = await meeting(1)
    const [verdict] = processes[0]!.store.takeNow([CHECK])!
    expect(verdict!.resetAfter).toBeGreaterThanOrEqual(10 * LIFE)
  })
})

/** A random fleet that meets a key now and then, and in between takes all that there is. */
async function walk(seed: number): Promise<{ excess: number; calls: number; decisions: number }> {
  const random = new Random(seed)
  // From 8192 on, two units are leased for the longest life.
  const burst = random.chance(0.5) ? random.whole(512, 5000) : random.whole(8192, 40_000)
  const algorithm = random.pick(['token-bucket', 'gcra'] as const)
  const rule = limit({ algorithm, quota: random.whole(500, 4000), window: '1s', burst })
  const life = random.pick([200, 500, 2000])
  const link = {
    latency: random.pick([0.2, 2, 40]),
    lostCalls: random.pick([0, 0.05]),
    lostAnswers: random.pick([0, 0.05]),
  }
  const fleet = new LeaseFleet(random, random.whole(2, 12), { life }, link)
  fleet.epoch = 1
  const { time, processes } = fleet
  for (let i = 0; i < lengthOf(150, 400); i++) {
    await time.pass(random.next() * life * random.pick([0.001, 0.1, 0.5]))
    const isFlood = random.chance(0.05)
    const units = isFlood ? random.whole(1, 12) : 1
    const cost = isFlood ? Math.ceil(burst / 8) : 1
    for (let j = 0; j < units; j++) random.pick(processes).check([leasedCheck(rule, 'k', cost)])
    if (random.chance(0.02))
      for (const process of processes)
        for (let j = 0; j < 20; j++) process.check([leasedCheck(rule)])
    if (random.chance(0.01))
      random.pick(processes).stop(random.next() * random.pick([15, 40]) * life, random.chance(0.5))
    if (random.chance(0.003)) random.pick(processes).crash()
  }
  await time.pass(32 * life)
  const sum = (of: (process: Process) => number): number =>
    processes.reduce((all, process) => all + of(process), 0)
  const { units } = excessOf(rule, fleet.admitted.get('k') ?? [])
  return { excess: units, calls: sum(({ calls }) => calls), decisions: sum((p) => p.decisions) }
}

describe('long leases over a fleet', () => {
  const seeds = lengthOf(20, 2500)
  it('admit no more than strict counts do, in any span', async () => {
    let [calls, decisions] = [0, 0]
    for (let seed = 1; seed <= seeds; seed++) {
      const { excess, ...counted } = await walk(seed)
      calls += counted.calls
      decisions += counted.decisions
      expect({ seed, excess: Math.max(0, Math.round(excess * 1e6) / 1e6) }).toEqual({
        seed,
        excess: 0,
      })
    }
    // Else nothing was leased, and nothing shown.
    expect(calls).toBeLessThan(decisions / 2)
  })
})
