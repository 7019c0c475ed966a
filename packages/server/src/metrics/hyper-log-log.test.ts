import { describe, expect, it } from 'vitest'
import { lengthOf } from '../../../../test/length.ts'
import { hash32 } from '../observe/keys.ts'
import { DISTINCT_ERROR, HyperLogLog } from './hyper-log-log.ts'

/** Five standard errors: beyond chance for keys that are the same in every run. */
const BOUND = 5 * DISTINCT_ERROR

describe('the number of different keys', () => {
  it.each([0, 1, 10, 1000, 10_000, 100_000, lengthOf(300_000, 10_000_000)])(
    'is within its error at %i keys, however often each comes',
    (keys) => {
      const sketch = new HyperLogLog()
      for (let i = 0; i < keys; i++) sketch.add(hash32(`user-${i}`))
      for (let i = 0; i < keys; i += 3) sketch.add(hash32(`user-${i}`))
      expect(Math.abs(sketch.size - keys)).toBeLessThanOrEqual(keys * BOUND)
    },
  )

  it('is that of the union after a merge through text', () => {
    const [one, two] = [new HyperLogLog(), new HyperLogLog()]
    for (let i = 0; i < 20_000; i++) one.add(hash32(`203.0.113.${i}`))
    for (let i = 10_000; i < 30_000; i++) two.add(hash32(`203.0.113.${i}`))
    one.merge(HyperLogLog.fromText(two.toText()))
    expect(Math.abs(one.size - 30_000)).toBeLessThan(30_000 * BOUND)
  })

  it.each(['', 'AAAA', 17, null])('is 0 for %j in the place of registers', (text) => {
    expect(HyperLogLog.fromText(text).size).toBe(0)
  })
})
