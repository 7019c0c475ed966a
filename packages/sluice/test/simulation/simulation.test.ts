// Thousands of fleets, each with its own misfortunes: the bounds hold after every event of every one of them.
import { describe, expect, it } from 'vitest'
import { compiledRun, keepsItsBounds } from './seeds.ts'

describe('a fleet whose store, network and processes fail', () => {
  const run = compiledRun()

  keepsItsBounds('first', run)

  it.each([
    [12_124, 'a reconnection began while packets were lost'],
    [15_259, 'a process was stopped between the calls to two nodes'],
    [17_324, 'a client that answered for one node was used for all of them again'],
  ])('keeps its bounds in seed %i, in which %s', async (seed) => {
    expect((await run(seed)).broken).toEqual([])
  })

  it('happens again in the same way for the same seed', async () => {
    for (const seed of [1, 77, 4242]) {
      const [first, second] = [await run(seed), await run(seed)]
      expect(first.trace.length).toBeGreaterThan(20)
      expect(second).toEqual(first)
    }
  })
})
