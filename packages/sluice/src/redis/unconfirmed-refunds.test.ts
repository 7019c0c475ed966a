import { describe, expect, it } from 'vitest'
import { limit } from '../limit/limit.ts'
import { VirtualTime } from '../../test/simulation/virtual-time.ts'
import { UnconfirmedRefunds, type RefundCheck } from './unconfirmed-refunds.ts'

const check = { space: 's', key: 'k', limit: limit('10/min'), cost: 1 }

/** Refunds to a server that confirms only while it is reachable. */
function refundsTo(server: { isReachable: boolean }) {
  const world = new VirtualTime()
  const sent: { at: number; ids: (string | undefined)[] }[] = []
  const began = world.now
  const refunds = new UnconfirmedRefunds({
    send: async (checks: readonly RefundCheck[]) => {
      sent.push({ at: world.now - began, ids: checks.map(({ once }) => once?.id) })
      if (!server.isReachable) throw new Error('no connection')
    },
    clock: world.clock,
    timers: world.timers,
  })
  return { world, sent, refunds }
}

describe('a refund that the store owes', () => {
  it('is sent once if the server confirms it', async () => {
    const { world, sent, refunds } = refundsTo({ isReachable: true })
    await refunds.refund([check, check], ['a', 'a'], 60_000)
    await world.pass(60_000)
    expect(sent).toHaveLength(1)
    expect(new Set(sent[0]!.ids).size).toBe(2)
  })

  it('is sent again with the same id until the server confirms it, ever more slowly', async () => {
    const server = { isReachable: false }
    const { world, sent, refunds } = refundsTo(server)
    await refunds.refund([check], ['a'], 60_000)
    await world.pass(20_000)
    expect(sent.map(({ at }) => at)).toEqual([
      0, 250, 750, 1750, 3750, 7750, 11_750, 15_750, 19_750,
    ])
    server.isReachable = true
    await world.pass(4000)
    expect(sent).toHaveLength(10)
    expect(new Set(sent.map(({ ids }) => ids[0])).size).toBe(1)
  })

  it('is sent once more after a late confirmation, which may be that of a primary that was replaced', async () => {
    const server = { isReachable: false }
    const { world, sent, refunds } = refundsTo(server)
    await refunds.refund([check], ['a'], 60_000)
    await world.pass(200)
    server.isReachable = true
    await world.pass(50_000)
    expect(sent.map(({ at }) => at)).toEqual([0, 250, 10_250])
    expect(new Set(sent.map(({ ids }) => ids[0])).size).toBe(1)
    expect(refunds.size).toBe(0)
  })

  it('is sent once more, too, if what it refunds was answered late or in part: the first confirmation is as doubtful', async () => {
    const { world, sent, refunds } = refundsTo({ isReachable: true })
    await refunds.refund([check], ['a'], 60_000, true)
    await world.pass(60_000)
    expect(sent.map(({ at }) => at)).toEqual([0, 10_000])
    expect(new Set(sent.map(({ ids }) => ids[0])).size).toBe(1)
    expect(refunds.size).toBe(0)
  })

  it('is given up when time has given the units back', async () => {
    const { world, sent, refunds } = refundsTo({ isReachable: false })
    await refunds.refund([check], ['a'], 1000)
    await world.pass(60_000)
    expect(sent.map(({ at }) => at)).toEqual([0, 250, 750])
    expect(refunds.size).toBe(0)
  })

  it('is given up when the store is closed', async () => {
    const { world, sent, refunds } = refundsTo({ isReachable: false })
    await refunds.refund([check], ['a'], 60_000)
    refunds.close()
    await world.pass(60_000)
    expect(sent).toHaveLength(1)
  })

  it('is kept among ten thousand at most', async () => {
    const { refunds } = refundsTo({ isReachable: false })
    const all = Array.from({ length: 10_100 }, () => refunds.refund([check], ['a'], 60_000))
    await Promise.all(all)
    expect(refunds.size).toBe(10_000)
  })
})
