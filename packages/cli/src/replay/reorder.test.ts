import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Reorder, type ReorderOptions } from './reorder.ts'

const roomy: ReorderOptions = { window: 60_000, maxHeld: 1000 }

function ordered(times: readonly number[], options: ReorderOptions) {
  const out: [number, number][] = []
  const reorder = new Reorder<never>(options, (at, client) => out.push([at, client]))
  let newest = -Infinity
  for (const [i, at] of times.entries()) {
    newest = Math.max(newest, at)
    reorder.push(at, i)
    reorder.advance(newest)
  }
  reorder.flush()
  return { out, reorder }
}

describe('requests', () => {
  it('within the window come out as a stable sort would have them', () => {
    const log = fc.array(fc.integer({ min: 0, max: 59_000 }), { maxLength: 200 })
    fc.assert(
      fc.property(log, (times) => {
        const { out, reorder } = ordered(times, roomy)
        const expected = times.map((at, i) => [at, i]).toSorted(([a], [b]) => a! - b!)
        expect(out).toEqual(expected)
        expect(reorder.late).toBe(0)
      }),
    )
  })

  it('never go back in time, however late or many they are', () => {
    const log = fc.array(fc.integer({ min: 0, max: 1_000_000 }), { maxLength: 300 })
    const options = fc.record({
      window: fc.integer({ min: 0, max: 100_000 }),
      maxHeld: fc.integer({ min: 1, max: 50 }),
    })
    fc.assert(
      fc.property(log, options, (times, options) => {
        const { out, reorder } = ordered(times, options)
        expect(out).toHaveLength(times.length)
        expect(new Set(out.map(([, client]) => client)).size).toBe(times.length)
        for (let i = 1; i < out.length; i++)
          expect(out[i]![0]).toBeGreaterThanOrEqual(out[i - 1]![0])
        expect(reorder.held).toBe(0)
      }),
    )
  })

  it('that come too late are counted and decided at the time that was reached', () => {
    const { out, reorder } = ordered([1000, 200_000, 400_000, 2000], roomy)
    expect(out.map(([at]) => at)).toEqual([1000, 200_000, 200_000, 400_000])
    expect(reorder.late).toBe(1)
  })
})
