// Proves that the lab would notice: each broken promise shows in the figures and is named.
import { describe, expect, test } from 'vitest'
import type { Charge } from './charges.ts'
import { type Figures, figuresOf, together } from './figures.ts'
import { broken } from './judge.ts'
import { ABORTED, ALLOWED, DEGRADED, FAILED, type Orders, type PodRecord } from './orders.ts'
import { type Scenario, TIMEOUT } from './scenario.ts'

type Asked = readonly [at: number, wait: number, key: number, answer: number]

const times = { begin: 1000, back: 3000, epoch: 0, others: [] }
const free: Charge = { units: 0, at: 0 }
/** A one-shot key that no test is about. */
const LAST = 100
const scenario: Scenario = {
  name: 'any',
  length: { test: 0, full: 0 },
  open: () => Promise.reject(new Error('not opened here')),
  bounds: {},
}

function figures(
  asked: readonly Asked[],
  charges: readonly Charge[] = [],
  still: readonly number[] = [],
): Figures {
  const column = (i: 0 | 1 | 2 | 3): number[] => asked.map((row) => row[i])
  const record: PodRecord = {
    at: Float64Array.from(column(0)),
    wait: Float32Array.from(column(1)),
    key: Int32Array.from(column(2)),
    answer: Uint8Array.from(column(3)),
    againstRefusal: 0,
    causes: {},
    errors: [],
    unhandled: [],
    still: Float64Array.from(still),
  }
  const all = Array.from({ length: LAST + 1 }, (_, i) => charges[i] ?? free)
  return figuresOf({ timeout: TIMEOUT } as Orders, record, all, times)
}

/** Answers of the store from the fault's end on, so that only what a test adds is wrong. */
const well: Asked[] = Array.from({ length: 20 }, (_, i) => [3000 + i, 1, LAST, ALLOWED])
const strict = 1
const verdictOn = (asked: readonly Asked[], charges?: readonly Charge[]): string[] =>
  broken(scenario, figures([...asked, ...well], charges), strict)

test('a run without a fault breaks nothing', () => {
  expect(verdictOn([])).toEqual([])
})

describe('the judge names', () => {
  test.each<[what: string, asked: Asked[], charges: Charge[], says: string[]]>([
    ['an error', [[1500, 1, -1, FAILED]], [], ['errors: 1, at most 0']],
    [
      'a charge after the answer and the deadline',
      [[1500, 5, 0, DEGRADED]],
      [{ units: 1, at: 1500 + TIMEOUT + 10 }],
      ['stale spends: 1, at most 0'],
    ],
    [
      'a charge in time whose answer was lost: one is no fault',
      [[1500, 5, 0, DEGRADED]],
      [{ units: 1, at: 1502 }],
      [],
    ],
    [
      'more lost answers than one call holds',
      Array.from({ length: 65 }, (_, i): Asked => [1500, 5, i, DEGRADED]),
      Array.from({ length: 65 }, () => ({ units: 1, at: 1502 })),
      ['charges whose answer was not heard: 65, at most 64'],
    ],
    [
      'a double charge',
      [[1500, 5, 0, ALLOWED]],
      [{ units: 2, at: 1502 }],
      ['double charges: 1, at most 0'],
    ],
    [
      'too much from the fallback',
      Array.from({ length: 101 }, (): Asked => [1500, 1, -1, ALLOWED | DEGRADED]),
      [],
      ['hot units admitted by the fallback: 101, at most 100'],
    ],
    [
      'too much from the store',
      Array.from({ length: 201 }, (_, i): Asked => [i < 150 ? 500 : 3000, 1, -1, ALLOWED]),
      [],
      ['hot units admitted by the store since: 51, at most 50'],
    ],
    [
      'a long wait',
      [[1500, 201, -1, 0]],
      [],
      [
        'ms of the longest wait that is our own: 201, at most 200',
        'ms of the median wait that is our own: 201, at most 5',
      ],
    ],
  ])('%s', (_, asked, charges, says) => {
    expect(verdictOn(asked, charges)).toEqual(says)
  })

  test('anything from the fallback that the store still refuses', () => {
    const made = { ...figures(well), againstRefusal: 1 }
    expect(broken(scenario, made, strict)).toEqual([
      'hot units admitted by the fallback against a refusal: 1, at most 0',
    ])
  })

  test('a store that does not come back, or late', () => {
    const late = well.map(([, ...rest], i): Asked => [4100 + i, ...rest])
    const never = broken(scenario, figures(well.slice(1)), strict)
    expect(never).toEqual(['ms until the store answers again: Infinity, at most 1000'])
    expect(broken(scenario, figures(late), strict)).toEqual([
      'ms until the store answers again: 1101, at most 1000',
    ])
  })
})

test('answers of the fallback interrupt the return, aborted callers do not', () => {
  const half = well.slice(0, 10)
  const rest = half.map(([, ...more], i): Asked => [3500 + i, ...more])
  expect(figures([...half, [3100, 1, -1, ABORTED], ...rest]).recovery).toBe(1)
  expect(figures([...half, [3100, 1, -1, DEGRADED], ...rest]).recovery).toBe(null)
})

test('what a pod stood still itself is no wait for the store, and is shown apart', () => {
  const still = [1400, 1550, 1600, 1700, 2000, 9000]
  const made = figures([[1500, 300, -1, 0], ...well], [], still)
  expect(made).toMatchObject({ longestWait: 300, ownWait: 150, stoodStill: 7000 })
})

test('refusals, which are remembered, do not show that the store is back', () => {
  const refused = Array.from({ length: 30 }, (_, i): Asked => [3000 + i, 0, -1, 0])
  expect(figures(refused).recovery).toBe(null)
  expect(figures([...refused, [3500, 7, LAST, ALLOWED]]).recovery).toBe(507)
})

test('a store is not back while requests wait that were made before those it answered', () => {
  const half = Array.from({ length: 12 }, (_, i): Asked => [3001 + i, 1, i === 0 ? LAST : -1, 0])
  const rest = Array.from({ length: 12 }, (_, i): Asked => [3200 + i, 1, -1, 0])
  expect(figures([...half, ...rest]).recovery).toBe(2)
  // The hot key is refused from memory meanwhile, which says nothing of the store.
  expect(figures([...half, [3100, -1, 7, 0], ...rest]).recovery).toBe(null)
})

test('several pods count together, and the slowest tells the time', () => {
  const one = figures([[1500, 50, -1, ALLOWED | DEGRADED], ...well])
  const other = figures([[1500, 70, -1, ALLOWED | DEGRADED], ...well])
  expect(together([one, other])).toMatchObject({
    requests: 42,
    byFallback: 2,
    longestWait: 70,
    recovery: 1,
  })
})
