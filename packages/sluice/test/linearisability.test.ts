import { describe, expect, it } from 'vitest'
import { limit } from '../src/limit/limit.ts'
import { isLinearisable, type Operation } from './linearisability.ts'

const two = limit('2/min')
const op = (kind: Operation['kind'], began: number, ended: number, answer = {}): Operation => ({
  kind,
  cost: 1,
  began,
  ended,
  ...answer,
})
const take = (began: number, ended: number, allowed: boolean) =>
  op('take', began, ended, { allowed })
const peek = (began: number, ended: number, remaining: number) =>
  op('peek', began, ended, { remaining })

describe('a history of 2/min', () => {
  it.each([
    ['takes one after the other', true, [take(0, 1, true), take(2, 3, true), take(4, 5, false)]],
    ['three units', false, [take(0, 1, true), take(2, 3, true), take(4, 5, true)]],
    ['a refusal too early', false, [take(0, 1, true), take(2, 3, false)]],
    ['takes side by side', true, [take(0, 9, false), take(1, 2, true), take(3, 4, true)]],
    ['a refusal that ended first', false, [take(0, 1, false), take(2, 3, true)]],
    ['a peek that sees the past', false, [take(0, 1, true), peek(2, 3, 2)]],
    ['a peek beside a take', true, [take(0, 5, true), peek(1, 2, 2), peek(3, 4, 1)]],
    [
      'a lost answer that acted',
      true,
      [op('take', 0, Infinity), take(2, 3, true), take(4, 5, false)],
    ],
    [
      'a lost answer that did not',
      true,
      [op('take', 0, Infinity), take(2, 3, true), take(4, 5, true)],
    ],
    ['a lost answer that acted twice', false, [op('take', 0, Infinity), peek(9, 10, 0)]],
    ['a refund', true, [take(0, 1, true), op('refund', 2, 3), peek(4, 5, 2)]],
    ['a refund that did nothing', false, [take(0, 1, true), op('refund', 2, 3), peek(4, 5, 1)]],
    ['a reset', true, [take(0, 1, true), take(2, 3, true), op('reset', 4, 5), take(6, 7, true)]],
  ] as const)('%s: %s', (_, expected, history) => {
    expect(isLinearisable(history, two, 1_800_000_000_000)).toBe(expected)
  })
})
