import { expect, it } from 'vitest'
import { RecentRefusals } from './recent-refusals.ts'

const key = (user: string, refused: number) => ({
  policy: 'api',
  rule: 'per-user',
  attributes: { user },
  refused,
  error: 0,
})
const last = (list: readonly { readonly lately: readonly number[] }[]) =>
  list.map(({ lately }) => lately.slice(-3))

it('counts what was refused since the last look, in steps of ten seconds', () => {
  const recent = new RecentRefusals(10)
  expect(last(recent.add(0, [key('ann', 7)]))).toEqual([[0, 0, 0]])
  expect(last(recent.add(1000, [key('ann', 9)]))).toEqual([[0, 0, 2]])
  expect(last(recent.add(2000, [key('ann', 10)]))).toEqual([[0, 0, 3]])
  expect(last(recent.add(10_000, [key('ann', 14)]))).toEqual([[0, 3, 4]])
  expect(last(recent.add(30_000, [key('ann', 15)]))).toEqual([[4, 0, 1]])
})

it('keeps five minutes, and forgets keys that left the list', () => {
  const recent = new RecentRefusals(1)
  recent.add(0, [key('ann', 1)])
  const [shown] = recent.add(1_000_000, [key('ann', 5)])
  expect(shown!.lately).toEqual([...Array.from({ length: 29 }, () => 0), 4])
  recent.add(1_001_000, [key('bob', 1)])
  expect(last(recent.add(1_002_000, [key('ann', 9)]))).toEqual([[0, 0, 0]])
})

it('counts the first refusals of a key while the list has room for all', () => {
  const recent = new RecentRefusals(3)
  recent.add(0, [])
  expect(last(recent.add(1000, [key('ann', 2)]))).toEqual([[0, 0, 2]])
  const pair = [key('ann', 2), { ...key('bob', 5), error: 1 }]
  expect(last(recent.add(10_000, pair))).toEqual([
    [0, 2, 0],
    [0, 0, 4],
  ])
})

it('does not go back with a clock that was set', () => {
  const recent = new RecentRefusals(10)
  recent.add(100_000, [key('ann', 1)])
  expect(last(recent.add(50_000, [key('ann', 4)]))).toEqual([[0, 0, 3]])
})
