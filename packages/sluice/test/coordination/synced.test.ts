// Synced counts of a fleet in virtual time: what it admits beyond a limit, against the stated bound.
import { describe, expect, it } from 'vitest'
import { lengthOf } from '../../../../test/length.ts'
import type { CoordinationEvent } from '../../src/coordination/options.ts'
import { LeaseStats } from '../../src/coordination/lease-stats.ts'
import { limit, type Limit } from '../../src/limit/limit.ts'
import type { Verdict } from '../../src/limit/verdict.ts'
import type { Check } from '../../src/stores/store.ts'
import { Random } from '../redis/random.ts'
import { excessOf } from './bounds.ts'
import { LeaseFleet, leasedCheck } from './lessees.ts'

const SEEDS = lengthOf(40, 2500)
const INTERVAL = 100
const RELIABLE = { latency: 0, lostCalls: 0, lostAnswers: 0 }

function syncedCheck(rule: Limit, key = 'k', cost = 1): Check {
  return leasedCheck(rule, key, cost, 'synced')
}

/** The most that one process admitted in one interval: by definition, over every request as the first. */
function mostPerInterval(fleet: LeaseFleet): number {
  let most = 0
  for (const { admitted } of fleet.processes) {
    let first = 0
    let sum = 0
    for (const { at, cost } of admitted) {
      sum += cost
      while (admitted[first]!.at < at - INTERVAL) sum -= admitted[first++]!.cost
      most = Math.max(most, sum)
    }
  }
  return most
}

async function walk(
  algorithm: 'token-bucket' | 'gcra' | 'fixed-window' | 'sliding-window',
  seed: number,
) {
  const random = new Random(seed)
  const window = random.whole(200, 2000)
  const rule = limit({ algorithm, quota: random.whole(1, 300), window })
  const link = {
    latency: random.whole(0, 40),
    lostCalls: random.chance(0.5) ? 0 : random.next() * 0.2,
    lostAnswers: random.chance(0.5) ? 0 : random.next() * 0.2,
    isOrdered: random.chance(0.8),
  }
  const size = random.whole(1, 8)
  const fleet = new LeaseFleet(random, size, { interval: INTERVAL }, link)
  for (let i = 0; i < 300; i++) {
    const process = random.pick(fleet.processes)
    const burst = random.chance(0.1) ? random.whole(1, 30) : 1
    for (let j = 0; j < burst; j++) process.check([syncedCheck(rule)])
    if (random.chance(0.01)) process.stop(random.whole(1, 500), random.chance(0.5))
    await fleet.time.pass(random.chance(0.05) ? random.whole(0, window) : random.whole(0, 6))
  }
  await fleet.time.pass(5000)
  const record = fleet.admitted.get('k') ?? []
  const { units } = excessOf(rule, record)
  // The store does not know what a flush carried that it did not get, or got after another call.
  const isReliable = link.lostCalls === 0 && link.lostAnswers === 0 && link.isOrdered
  const unseen = isReliable ? size - 1 : size
  return { units, bound: unseen * mostPerInterval(fleet), fleet, rule }
}

describe.each(['token-bucket', 'gcra', 'fixed-window', 'sliding-window'] as const)(
  'synced counts of %s',
  (algorithm) => {
    it('exceed the limit by no more than what the other processes admit in one interval', async () => {
      let most = -Infinity
      for (let seed = 1; seed <= SEEDS; seed++) {
        const { units, bound } = await walk(algorithm, seed)
        expect(units, `seed ${seed}`).toBeLessThanOrEqual(bound)
        most = Math.max(most, units)
      }
      // Some fleet does exceed it: the bound is no idle one.
      expect(most).toBeGreaterThan(0)
    })
  },
)

describe('a store with synced counts', () => {
  const RULE = limit('1000/s')
  const CHECK = syncedCheck(RULE)

  async function counting(size = 2, events: CoordinationEvent[] = [], stats = new LeaseStats()) {
    const options = {
      interval: INTERVAL,
      stats,
      onEvent: (event: CoordinationEvent) => void events.push(event),
    }
    const fleet = new LeaseFleet(new Random(1), size, options, RELIABLE)
    for (let i = 0; i < 20; i++) {
      for (const process of fleet.processes) process.check([CHECK])
      await fleet.time.pass(10)
    }
    return fleet
  }
  const sharedVerdict = ({ shared }: LeaseFleet, check = CHECK): Verdict =>
    shared.peek([{ ...check, holds: true }])[0]!

  it('decides here, without a call, and sends what it took of every count in one', async () => {
    const { processes, time } = await counting(1)
    const [process] = processes
    const { calls } = process!
    expect(process!.store.takeNow([CHECK])).toMatchObject([{ allowed: true, source: 'memory' }])
    expect(process!.calls).toBe(calls)
    const others = ['a', 'b', 'c'].map((key) => syncedCheck(RULE, key))
    for (const check of others) process!.check([check])
    await time.pass(20)
    for (const check of others) expect(process!.store.takeNow([check])).toBeDefined()
    const before = process!.calls
    await time.pass(40)
    expect(process!.calls - before).toBeLessThanOrEqual(2)
  })

  it('keeps what a failed flush was to send, and sends it again', async () => {
    const stats = new LeaseStats()
    const fleet = new LeaseFleet(new Random(1), 1, { interval: INTERVAL, stats }, RELIABLE)
    const [process] = fleet.processes
    const check = syncedCheck(limit('100/h'))
    process!.check([check])
    await fleet.time.pass(1)
    for (let i = 0; i < 9; i++) process!.check([check])
    fleet.isCut = true
    await fleet.time.pass(3 * INTERVAL)
    expect(stats.failedFlushes).toBeGreaterThan(0)
    expect(sharedVerdict(fleet, check).remaining).toBe(99)
    fleet.isCut = false
    await fleet.time.pass(3 * INTERVAL)
    expect(sharedVerdict(fleet, check).remaining).toBe(90)
    expect(fleet.unitsOf('k')).toBe(10)
  })

  it('asks the store near the limit', async () => {
    const events: CoordinationEvent[] = []
    const fleet = await counting(2, events)
    const [first] = fleet.processes
    const rule = limit('20/min')
    const few = syncedCheck(rule, 'few')
    for (let i = 0; i < 30; i++) {
      for (const process of fleet.processes) process.check([few])
      await fleet.time.pass(20)
    }
    expect(fleet.unitsOf('few')).toBe(20)
    expect(first!.store.takeNow([few])).toBeUndefined()
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['synced', 'strict']))
  })

  it('asks the store when its totals are older than half an interval', async () => {
    const fleet = await counting(1)
    const [{ store }] = fleet.processes as [LeaseFleet['processes'][number]]
    fleet.isCut = true
    expect(store.takeNow([CHECK])).toBeDefined()
    for (let i = 0; i < INTERVAL / 2; i++) {
      store.takeNow([CHECK])
      await fleet.time.pass(1)
    }
    expect(store.takeNow([CHECK])).toBeUndefined()
    fleet.isCut = false
    await fleet.time.pass(INTERVAL)
    expect(store.takeNow([CHECK])).toBeDefined()
  })

  it('reports what was taken beyond the limit', async () => {
    const stats = new LeaseStats()
    const fleet = await counting(4, [], stats)
    const rule = limit({ algorithm: 'token-bucket', quota: 100, window: '1h' })
    const check = syncedCheck(rule, 'over')
    for (const process of fleet.processes) process.check([check])
    await fleet.time.pass(1)
    // All at once: no process sees what the others take.
    for (const process of fleet.processes) for (let i = 0; i < 60; i++) process.check([check])
    await fleet.time.pass(500)
    const over = fleet.unitsOf('over') - 100
    expect(over).toBeGreaterThan(0)
    expect(stats.maxOvershoot).toBeGreaterThan(0)
    expect(stats.overshoot).toBe(over)
    expect(stats.maxPerInterval).toBe(61)
    expect(over).toBeLessThanOrEqual(3 * stats.maxPerInterval)
    expect(stats.switches).toMatchObject({ leasing: 0 })
    expect(stats.switches.synced).toBeGreaterThan(0)
  })

  it('takes all or none beside a strict rule, and puts back what it took', async () => {
    const fleet = await counting(1)
    const [process] = fleet.processes
    const strict: Check = { space: 'strict', key: 'k', limit: limit('2/min'), cost: 1 }
    const before = fleet.unitsOf('k')
    for (let i = 0; i < 5; i++) {
      process!.check([CHECK, strict])
      await fleet.time.pass(1)
    }
    expect(fleet.unitsOf('k') - before).toBe(4)
    await fleet.time.pass(3000)
    expect(sharedVerdict(fleet).remaining).toBe(1000)
  })

  it('sends what it took before it is closed', async () => {
    const fleet = await counting(1)
    const [process] = fleet.processes
    const rule = limit('100/h')
    const check = syncedCheck(rule, 'last')
    process!.check([check])
    await fleet.time.pass(1)
    for (let i = 0; i < 9; i++) process!.check([check])
    await Promise.all([process!.store.close(), fleet.time.pass(10)])
    expect(sharedVerdict(fleet, check).remaining).toBe(90)
  })

  it('counts anew after a reset, and under another limit', async () => {
    const fleet = await counting(1)
    const [process] = fleet.processes
    await Promise.all([process!.store.reset([CHECK]), fleet.time.pass(5)])
    expect(process!.store.takeNow([CHECK])).toBeUndefined()
    expect(process!.store.takeNow([{ ...CHECK, limit: limit('7/s') }])).toBeUndefined()
  })

  it('refuses options that cannot be right', () => {
    const fleet = (options: object): LeaseFleet =>
      new LeaseFleet(new Random(1), 1, options, RELIABLE)
    expect(() => fleet({ interval: 5 })).toThrow('interval is 5; accepted: whole milliseconds, 10')
  })
})
