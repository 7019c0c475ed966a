import { expect, it } from 'vitest'
import { ClockStamp, instantOf } from './stamp.ts'

const AT = Date.UTC(2026, 4, 17, 8, 5, 3)

it.each<[unknown, number]>([
  ['17/May/2026:10:05:03 +0200', AT],
  ['[17/May/2026:08:05:03 +0000]', AT],
  ['2026-05-17T08:05:03Z', AT],
  ['2026-05-17T10:05:03.25+02:00', AT + 250],
  ['2026-05-17T10:05:03.123456+0200', AT + 123],
  ['2026-05-17 08:05:03', AT],
  [AT / 1000, AT],
  [AT / 1000 + 0.25, AT + 250],
  [AT, AT],
  [AT * 1000, AT],
  [String(AT), AT],
  [`${AT}000000`, AT],
  ['yesterday', Number.NaN],
  ['2026-02-30T08:05:03Z', Date.parse('2026-02-30T08:05:03Z')],
  [12, Number.NaN],
  [null, Number.NaN],
])('%j is %d', (value, expected) => {
  expect(instantOf(value)).toBe(expected)
})

it('stamps that differ in any part are distinguished', () => {
  const stamp = new ClockStamp()
  const read = (text: string): number => stamp.read(new TextEncoder().encode(text), 0)
  const base = read('17/May/2026:08:05:03 +0000')
  expect(read('17/May/2026:08:05:04 +0000') - base).toBe(1000)
  expect(read('17/May/2026:08:06:03 +0000') - base).toBe(60_000)
  expect(read('17/May/2026:08:05:03 +0100') - base).toBe(-3_600_000)
  expect(read('18/May/2026:08:05:03 +0000') - base).toBe(86_400_000)
  expect(read('17/May/2026:08:05:03 +0000')).toBe(base)
})
