import { describe, expect, it } from 'vitest'
import { LeaseStats } from '../../src/coordination/lease-stats.ts'
import type { CoordinationEvent } from '../../src/coordination/options.ts'
import { limit } from '../../src/limit/limit.ts'
import type { Verdict } from '../../src/limit/verdict.ts'
import type { Check } from '../../src/stores/store.ts'
import { Random } from '../redis/random.ts'
import { LeaseFleet, leasedCheck, type LinkOptions } from './lessees.ts'

const RULE = limit('1000/s')
const CHECK = leasedCheck(RULE)
const STRICT: Check = { space: 'strict', key: 'k', limit: limit('5/min'), cost: 1 }

/** One or more processes; the first of them has leased units of {@link CHECK}. */
async function leasing(
  processes = 1,
  link: Partial<LinkOptions> = {},
  events: CoordinationEvent[] = [],
): Promise<LeaseFleet> {
  const options = { onEvent: (event: CoordinationEvent) => void events.push(event) }
  const whole = { latency: 0, lostCalls: 0, lostAnswers: 0, ...link }
  const fleet = new LeaseFleet(new Random(1), processes, options, whole)
  for (let i = 0; i < 50; i++) {
    fleet.processes[0]!.check([CHECK])
    await fleet.time.pass(2)
  }
  return fleet
}

/** What the shared store says of the count, without the leases of any process. */
function sharedVerdict({ shared }: LeaseFleet, check = CHECK): Verdict {
  return shared.peek([{ ...check, holds: true }])[0]!
}

describe('a store with leases', () => {
  it('answers from a lease at once, without a call', async () => {
    const { processes } = await leasing()
    const { store, calls } = processes[0]!
    const verdicts = store.take([CHECK])
    expect(verdicts).toMatchObject([{ allowed: true, source: 'lease', retryAfter: 0 }])
    expect(processes[0]!.calls).toBe(calls)
  })

  it('says "not from here" for a key without a lease, and charges nothing', async () => {
    const fleet = await leasing()
    const other = leasedCheck(RULE, 'other')
    expect(fleet.processes[0]!.store.takeNow([other])).toBeUndefined()
    expect(fleet.processes[0]!.store.takeNow([CHECK, other])).toBeUndefined()
    expect(sharedVerdict(fleet, other).remaining).toBe(1000)
  })

  it('asks the store once for all requests of a turn, and the first of them get what there is', async () => {
    const fleet = await leasing()
    const { store, calls } = fleet.processes[0]!
    const few = leasedCheck(limit('5/min'), 'few')
    const answers = Promise.all(Array.from({ length: 8 }, async () => store.take([few])))
    await fleet.time.pass(1)
    const verdicts = (await answers).map(([verdict]) => verdict!)
    expect(verdicts.map(({ allowed }) => allowed)).toEqual([...Array(8).keys()].map((i) => i < 5))
    expect(fleet.processes[0]!.calls).toBe(calls + 1)
    expect(verdicts[7]).toMatchObject({ remaining: 0, retryAfter: 12_000, source: 'memory' })
  })

  it('leases a few units of a key that it sees twice per second while half of the limit is free, and lets them lapse', async () => {
    const fleet = await leasing()
    const [process] = fleet.processes
    const seldom = leasedCheck(RULE, 'seldom')
    const before = process!.calls
    for (let i = 0; i < 40; i++) {
      process!.check([seldom])
      await fleet.time.pass(500)
    }
    // A call for each fourth request, or fewer, besides those that report the other key.
    expect(process!.calls - before).toBeLessThanOrEqual(16)
    expect(fleet.unitsOf('seldom')).toBe(40)
    await fleet.time.pass(4000)
    expect(sharedVerdict(fleet, seldom).remaining).toBe(1000)
  })

  it('asks for each request of such a key when less than half of its limit is free', async () => {
    const fleet = await leasing()
    const [process] = fleet.processes
    const scarce = leasedCheck(limit('60/h'), 'scarce')
    for (let i = 0; i < 40; i++) {
      process!.check([scarce])
      await fleet.time.pass(1)
    }
    await fleet.time.pass(4000)
    const before = process!.calls
    for (let i = 0; i < 10; i++) {
      process!.check([scarce])
      await fleet.time.pass(500)
    }
    expect(process!.calls - before).toBe(10)
    expect(fleet.unitsOf('scarce')).toBe(50)
  })

  it('puts leased units back into the lease when a strict rule refuses', async () => {
    const { processes, time } = await leasing()
    const { store } = processes[0]!
    const left = (store.take([CHECK]) as readonly Verdict[])[0]!.remaining
    for (let i = 0; i < 5; i++) processes[0]!.check([CHECK, STRICT])
    await time.pass(1)
    const refused = Promise.resolve(store.take([CHECK, STRICT]))
    await time.pass(1)
    const [leased, strict] = await refused
    expect(leased).toMatchObject({ allowed: true, source: 'lease' })
    expect(strict).toMatchObject({ allowed: false, source: 'memory' })
    expect((store.take([CHECK]) as readonly Verdict[])[0]!.remaining).toBe(left - 6)
  })

  it.each([
    ['stopped', false],
    ['asleep', true],
  ])('spends nothing after the end of its lease when the process was %s', async (_, asleep) => {
    const { processes, time } = await leasing()
    const [process] = processes
    process!.stop(5000, asleep)
    await time.pass(5000)
    expect(process!.store.takeNow([CHECK])).toBeUndefined()
  })

  it('gives its units back when they are not needed any more', async () => {
    const fleet = await leasing()
    const before = sharedVerdict(fleet).remaining
    await fleet.time.pass(1000)
    expect(before).toBeLessThan(1000)
    expect(sharedVerdict(fleet).remaining).toBe(1000)
  })

  it('gives its units back when it is closed', async () => {
    const fleet = await leasing()
    const { store } = fleet.processes[0]!
    const left = (store.take([CHECK]) as readonly Verdict[])[0]!.remaining
    const before = sharedVerdict(fleet).remaining
    const closed = store.close()
    await fleet.time.pass(0)
    await closed
    expect(left).toBeGreaterThan(0)
    expect(sharedVerdict(fleet).remaining).toBeGreaterThanOrEqual(before + left)
  })

  it('leaves what a crashed process had until the end of its lease, and not longer', async () => {
    const fleet = await leasing()
    fleet.processes[0]!.crash()
    await fleet.time.pass(1000)
    expect(sharedVerdict(fleet).remaining).toBeLessThan(1000)
    await fleet.time.pass(3000)
    expect(sharedVerdict(fleet).remaining).toBe(1000)
  })

  it('spends nothing more of a lease that the store has forgotten', async () => {
    const events: CoordinationEvent[] = []
    const fleet = await leasing(1, {}, events)
    const { store } = fleet.processes[0]!
    store.takeNow([CHECK])
    fleet.shared.reset([{ ...CHECK, holds: true }])
    await fleet.time.pass(300)
    expect(store.takeNow([CHECK])).toBeUndefined()
    expect(events.map(({ type, reason }) => [type, reason])).toEqual([
      ['leasing', 'demand'],
      ['strict', 'lost'],
    ])
  })

  it('reports a lease that the store has forgotten, also under demand', async () => {
    const events: CoordinationEvent[] = []
    const fleet = await leasing(1, {}, events)
    fleet.shared.reset([{ ...CHECK, holds: true }])
    for (let i = 0; i < 200; i++) {
      fleet.processes[0]!.check([CHECK])
      await fleet.time.pass(2)
    }
    expect(events.map(({ type, reason }) => [type, reason])).toEqual([
      ['leasing', 'demand'],
      ['strict', 'lost'],
      ['leasing', 'demand'],
    ])
  })

  it('drops its lease when the count is reset', async () => {
    const fleet = await leasing()
    const { store } = fleet.processes[0]!
    const reset = store.reset([CHECK])
    expect(store.takeNow([CHECK])).toBeUndefined()
    await fleet.time.pass(1)
    await reset
    expect(sharedVerdict(fleet).remaining).toBe(1000)
  })

  it('drops what was on its way while the count was reset', async () => {
    const fleet = await leasing(1, { latency: 5, isOrdered: true })
    const { store } = fleet.processes[0]!
    // The last ones ask for more in the background.
    for (let i = 0; store.takeNow([CHECK]) !== undefined; i++) expect(i).toBeLessThan(10_000)
    const reset = store.reset([CHECK])
    await fleet.time.pass(20)
    await reset
    expect(store.takeNow([CHECK])).toBeUndefined()
  })

  it('does not spend units that were leased under another limit', async () => {
    const fleet = await leasing()
    const { store } = fleet.processes[0]!
    const stricter = leasedCheck(limit('10/s'))
    expect(store.takeNow([stricter])).toBeUndefined()
    const answer = Promise.resolve(store.take([stricter]))
    await fleet.time.pass(1)
    expect(await answer).toMatchObject([{ allowed: false, source: 'memory' }])
    expect(store.takeNow([CHECK])).toBeUndefined()
  })

  it('takes requests of one turn under two limits of one new key under the limit of each', async () => {
    const fleet = await leasing()
    const { store } = fleet.processes[0]!
    const [slow, fast] = [limit('5/min'), limit('100/min')].map((one) => leasedCheck(one, 'new'))
    fleet.shared.take([{ ...fast!, cost: 10, holds: true }])
    const answers = Promise.all([store.take([fast!]), store.take([slow!]), store.take([slow!])])
    await fleet.time.pass(1)
    const allowed = (await answers).map(([verdict]) => verdict!.allowed)
    expect(allowed).toEqual([true, false, false])
  })

  it('goes on with equal limits of another policy object', async () => {
    const { processes } = await leasing()
    const same = leasedCheck(limit('1000/s'))
    expect(processes[0]!.store.takeNow([same])).toMatchObject([{ source: 'lease' }])
  })

  it('refunds into the lease that the units came from', async () => {
    const { processes } = await leasing()
    const { store, calls } = processes[0]!
    const [verdict] = store.take([CHECK]) as readonly Verdict[]
    await store.refund([{ ...CHECK, takenAt: verdict!.at }])
    expect((store.take([CHECK]) as readonly Verdict[])[0]!.remaining).toBe(verdict!.remaining)
    expect(processes[0]!.calls).toBe(calls)
  })

  it('refunds units of the store to the store, if units of the lease were spent after them', async () => {
    const fleet = await leasing()
    const { store, calls } = fleet.processes[0]!
    const earlier = sharedVerdict(fleet).at - 20
    const { remaining } = (store.take([CHECK]) as readonly Verdict[])[0]!
    const refund = store.refund([{ ...CHECK, takenAt: earlier }])
    await Promise.all([refund, fleet.time.pass(1)])
    expect((store.take([CHECK]) as readonly Verdict[])[0]!.remaining).toBe(remaining - 1)
    expect(fleet.processes[0]!.calls).toBe(calls + 1)
  })

  it('spends its lease to the end while the store is unreachable, and rejects then', async () => {
    const { processes, time, link } = await leasing()
    Object.assign(link, { lostCalls: 1 })
    const { store } = processes[0]!
    expect(store.takeNow([CHECK])).toBeDefined()
    await time.pass(200)
    expect(store.takeNow([CHECK])).toMatchObject([{ source: 'lease' }])
    await time.pass(3000)
    const failure = Promise.resolve(store.take([CHECK])).then(
      () => undefined,
      (error: unknown) => error,
    )
    await time.pass(200)
    expect(await failure).toMatchObject({ code: 'store-timeout' })
  })

  it('peeks at the store, or at its lease if that has more', async () => {
    const { processes, time, shared } = await leasing(2)
    const { remaining } = shared.peek([{ ...CHECK, holds: true }])[0]!
    shared.take([{ ...CHECK, holds: true, cost: remaining }])
    const [holder, other] = processes.map(({ store }) => store.peek([CHECK]))
    const left = processes[0]!.store.peek([{ ...CHECK, cost: 1000 }])
    await time.pass(0.5)
    expect(await other).toMatchObject([{ allowed: false, remaining: 0 }])
    expect(await holder).toMatchObject([{ allowed: true, retryAfter: 0 }])
    const [whole] = await left
    expect(whole).toMatchObject({ allowed: false, remaining: (await holder)![0]!.remaining })
    expect(whole!.remaining).toBeGreaterThan(0)
    expect(processes[0]!.store.takeNow([CHECK])![0]!.remaining).toBe(whole!.remaining - 1)
  })

  it('peeks at the store alone under another limit than that of its lease', async () => {
    const { processes, time } = await leasing()
    const answer = processes[0]!.store.peek([leasedCheck(limit('10/s'))])
    await time.pass(0.5)
    expect(await answer).toMatchObject([{ allowed: false, remaining: 0 }])
  })

  it('leases no more counts than it may, and asks the store about others', async () => {
    const whole = { latency: 0, lostCalls: 0, lostAnswers: 0 }
    const fleet = new LeaseFleet(new Random(1), 1, { maxCounts: 1 }, whole)
    const [process] = fleet.processes
    const other = leasedCheck(RULE, 'other')
    for (let i = 0; i < 50; i++) {
      process!.check([CHECK])
      process!.check([other])
      await fleet.time.pass(2)
    }
    expect(process!.store.takeNow([CHECK])).toBeDefined()
    expect(process!.store.takeNow([other])).toBeUndefined()
    expect(process!.calls).toBeGreaterThanOrEqual(50)
    expect(fleet.unitsOf('other')).toBe(50)
  })

  it('leases under auto what is hot, and asks the store about what is not', async () => {
    const whole = { latency: 0, lostCalls: 0, lostAnswers: 0 }
    const fleet = new LeaseFleet(new Random(1), 1, {}, whole)
    const [process] = fleet.processes
    const [warm, hot] = ['warm', 'hot'].map((key) => leasedCheck(RULE, key, 1, 'auto'))
    for (let i = 0; i < 400; i++) {
      // 20 and 200 requests a second.
      if (i % 10 === 0) process!.check([warm!])
      process!.check([hot!])
      await fleet.time.pass(5)
      expect(process!.store.takeNow([warm!])).toBeUndefined()
    }
    expect(process!.store.takeNow([hot!])).toMatchObject([{ source: 'lease' }])
    expect(fleet.unitsOf('warm')).toBe(40)
  })

  it.each<[what: string, check: Check]>([
    [
      'a leaky bucket',
      leasedCheck(limit({ quota: 1000, window: '1s', algorithm: 'leaky-bucket' })),
    ],
    [
      'a sliding log of few stamps',
      leasedCheck(limit({ quota: 1000, window: '1s', algorithm: 'sliding-log', stamps: 100 })),
    ],
    ['a rule that counts refusals', { ...CHECK, countRefused: true }],
  ])('asks the store each time about %s', async (_, check) => {
    const fleet = new LeaseFleet(new Random(1), 1, {}, { latency: 0, lostCalls: 0, lostAnswers: 0 })
    const [process] = fleet.processes
    for (let i = 0; i < 50; i++) {
      process!.check([check])
      await fleet.time.pass(2)
    }
    expect(process!.calls).toBe(50)
    expect(fleet.unitsOf('k')).toBe(50)
  })

  it('never promises more than is certain', async () => {
    const fleet = await leasing()
    const { store } = fleet.processes[0]!
    const [verdict] = store.take([CHECK]) as readonly Verdict[]
    const whole = sharedVerdict(fleet)
    expect(verdict!.remaining).toBeGreaterThan(0)
    expect(verdict!.remaining).toBeLessThanOrEqual(1000)
    expect(verdict!.resetAfter).toBeGreaterThanOrEqual(whole.resetAfter)
    expect(verdict!.availableAfter).toBeGreaterThanOrEqual(whole.availableAfter)
    expect(verdict!.at).toBeLessThanOrEqual(whole.at)
  })

  it('counts every unit once: out, spent, given back or ended', async () => {
    const stats = new LeaseStats()
    const whole = { latency: 0, lostCalls: 0, lostAnswers: 0 }
    const fleet = new LeaseFleet(new Random(1), 1, { stats }, whole)
    const [process] = fleet.processes
    for (let i = 0; i < 50; i++) {
      process!.check([CHECK])
      await fleet.time.pass(2)
    }
    expect(stats.grants).toBeGreaterThan(0)
    expect(stats).toMatchObject({ counts: 1, lost: 0 })
    expect(stats.unitsOut).toBe(process!.store.takeNow([CHECK])![0]!.remaining + 1)
    const closed = process!.store.close()
    await fleet.time.pass(10)
    await closed
    const { granted, spent, returned, expired, unitsOut } = stats
    expect(unitsOut).toBe(0)
    expect(spent).toBeGreaterThan(0)
    expect(spent + returned + expired).toBe(granted)
  })
})
