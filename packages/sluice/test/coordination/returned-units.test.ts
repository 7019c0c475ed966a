// Units that a lease gave, and that go back because another rule refuses, while the lease is reported and spent again.
import { describe, expect, it } from 'vitest'
import { withLeases, type LeasedStore } from '../../src/coordination/leased-store.ts'
import { limit } from '../../src/limit/limit.ts'
import type { Exchanged, HoldStore } from '../../src/stores/holds/hold-store.ts'
import { withHolds } from '../../src/stores/holds/with-holds.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import type { Check } from '../../src/stores/store.ts'
import { VirtualTime } from '../simulation/virtual-time.ts'
import { leasedCheck } from './lessees.ts'

const RULE = limit({ algorithm: 'token-bucket', quota: 1000, window: '1s', burst: 100 })
const CHECK = leasedCheck(RULE)
const SPENT: Check = { space: 'strict', key: 'spent', limit: limit('1/min'), cost: 1 }

/** A process whose questions about {@link SPENT} are answered when `release` is called; others at once. */
async function leasing() {
  const time = new VirtualTime(1_800_000_000_000)
  const shared = withHolds(memoryStore({ clock: () => Math.floor(time.now) }))
  const late: (() => void)[] = []
  let calls = 0
  const link: HoldStore = {
    ...shared,
    take: async (checks) => shared.take(checks),
    peek: async (checks) => shared.peek(checks),
    refund: async (checks) => shared.refund(checks),
    exchange: (settlements, checks) => {
      calls += 1
      const answer = shared.exchange(settlements, checks) as Exchanged
      if (!checks.some(({ key }) => key === SPENT.key)) return Promise.resolve(answer)
      return new Promise((resolve) => void late.push(() => resolve(answer)))
    },
    close: () => {},
  }
  shared.take([SPENT])
  const store = withLeases(
    link,
    { life: 2000 },
    { clock: { now: time.clock }, timers: time.timers },
  )
  for (let i = 0; i < 60; i++) {
    void store.take([CHECK])
    await time.pass(5)
  }
  const release = async (): Promise<void> => {
    for (const answer of late.splice(0)) answer()
    await time.pass(0)
  }
  return { time, store, shared, release, calls: () => calls }
}

/** Spends what is leased here, up to so many units. */
function spendHere(store: LeasedStore, most: number): number {
  let spent = 0
  while (spent < most && store.takeNow([CHECK]) !== undefined) spent += 1
  return spent
}

describe('units that go back into a lease', () => {
  it('do not stand for units that were spent after the store had booked them', async () => {
    const { time, store, shared, release, calls } = await leasing()
    const refused = [1, 2, 3].map(async () => store.take([CHECK, SPENT]))
    // Leases more, and reports the undecided ones as spent. What is booked drains; then as much is spent as there is.
    const sent = calls()
    while (calls() === sent) expect(spendHere(store, 1)).toBe(1)
    await time.pass(60)
    const before = spendHere(store, 3)
    expect(before).toBe(3)
    await release()
    await Promise.all(refused)
    let here = 0
    for (let i = 0; i < 20; i++) {
      here += spendHere(store, RULE.burst)
      await time.pass(0)
    }
    const { remaining } = shared.peek([{ ...CHECK, holds: true }])[0]!
    expect(before + here + remaining).toBeLessThanOrEqual(RULE.burst)
  })
})
