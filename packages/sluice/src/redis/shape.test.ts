import { expect, it } from 'vitest'
import { limit } from '../limit/limit.ts'
import { shapeOf, type SentCheck } from './shape.ts'

const NOW = 1_800_000_000_000
const check = { space: 's', key: 'k', limit: limit('5/min'), cost: 1 }
const known: SentCheck = { ...check, lastState: { at: NOW, used: 1, before: 0 } }
const argsOf = (operation: 'take' | 'peek' | 'refund' | 'reset', one: SentCheck) =>
  shapeOf(operation, [one], NOW).args

it.each(['take', 'peek'] as const)('sends the last known state with a %s', (operation) => {
  expect(argsOf(operation, known)).toHaveLength(argsOf(operation, check).length + 3)
})

it.each(['refund', 'reset'] as const)(
  'sends no state with a %s of such a check: the script would take it for the next argument',
  (operation) => {
    expect(argsOf(operation, known)).toEqual(argsOf(operation, { ...check, leavesTrace: true }))
  },
)
