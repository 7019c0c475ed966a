// The learned rate at random limits, networks and servers that its constants were not fitted to. `LEARNING_SEEDS=200` runs the whole study.
import { describe, expect, it } from 'vitest'
import { lengthOf } from '../../../../test/length.ts'
import { ALGORITHMS } from '../../src/limit/limit.ts'
import { drawCase, learn, type Learned } from './learning-cases.ts'

const SEEDS = Number(process.env['LEARNING_SEEDS'] ?? lengthOf(1, 4))
/** These seeds were not used to choose the constants. */
const FIRST_SEED = 1_000_000

const STEPS = [
  { name: 'settled', factor: 1, learning: 8, watched: 5 },
  { name: 'raised to twice as much', factor: 2, learning: 8, watched: 4 },
  { name: 'lowered to half', factor: 0.5, learning: 8, watched: 4 },
]

/** The minimum, median and maximum, in percent. */
function spread(shares: readonly number[]): string {
  const sorted = shares.toSorted((a, b) => a - b)
  const at = (part: number): string =>
    (100 * sorted[Math.floor(part * (sorted.length - 1))]!).toFixed(2)
  return `${at(0)} / ${at(0.5)} / ${at(1)} %`
}

describe('the learned rate without limit headers', () => {
  it.each(ALGORITHMS)(
    'settles within five percent below a %s limit, with at most one percent refused',
    { timeout: 60_000 + SEEDS * 30_000 },
    (algorithm) => {
      const runs = Array.from({ length: SEEDS }, (_, i) => {
        const drawn = drawCase(algorithm, FIRST_SEED + i)
        return { drawn, steps: learn(drawn, STEPS) }
      })
      for (const [i, { name }] of STEPS.entries()) {
        const all = runs.map(({ steps }) => steps[i]!)
        const of = (what: keyof Learned): string => spread(all.map((one) => one[what]))
        console.log(
          `${algorithm}, ${name}, ${SEEDS} seeds: used ${of('share')}, refused ${of('refused')}, while learning ${of('whileLearning')}`,
        )
      }
      const failed = runs.flatMap(({ drawn, steps }) =>
        steps
          .filter(({ share, refused }) => !(share >= 0.95 && share <= 1 && refused <= 0.01))
          .map((step) => ({ ...drawn, ...step })),
      )
      expect(failed).toEqual([])
    },
  )
})
