// The stories behind the vectors of the variants: windows from the first request, of the calendar, logs with stamps.
import type { LimitFields } from '../src/limit/limit.ts'
import type { VARIANT_KINDS } from './kinds.ts'
import { comeBack, peek, refund, take, untilReset, T, type StoryStep } from './story.ts'

/** A story whose limit may say more than the plain ones. */
export interface VariantStory {
  readonly name: string
  readonly limit: LimitFields
  readonly steps: readonly StoryStep[]
}

const berlin = (text: string): number => Date.parse(text)

/** The stories of each variant. */
export const variantStories: Readonly<
  Record<(typeof VARIANT_KINDS)[number], readonly VariantStory[]>
> = {
  'first-window': [
    {
      name: 'a window begins with the first request',
      limit: { algorithm: 'fixed-window', quota: 3, window: 1000, anchor: 'first' },
      steps: [
        peek(T + 300, 3),
        take(T + 700, 2),
        take(T + 900, 1),
        take(T + 1200, 1),
        ...comeBack(1),
        take(T + 1701, 2),
        take(T + 1701, 1),
        ...untilReset(3),
        take(T + 9999, 4),
      ],
    },
    {
      name: 'units handed back, and all of them',
      limit: { algorithm: 'fixed-window', quota: 3, window: 1000, anchor: 'first' },
      steps: [
        take(T, 3),
        refund(T + 10, 1, T),
        take(T + 20, 1),
        refund(T + 500, 3, T),
        take(T + 600, 3, 'the next window begins here'),
        ...untilReset(3),
      ],
    },
  ],
  'calendar-window': [
    {
      name: 'a day of 25 hours and one of 23',
      limit: { algorithm: 'fixed-window', quota: 2, window: 'day', timeZone: 'Europe/Berlin' },
      steps: [
        take(berlin('2026-10-25T00:00:00+02:00'), 2),
        take(berlin('2026-10-25T23:59:59+01:00'), 1),
        ...comeBack(1),
        take(berlin('2027-03-28T00:00:00+01:00'), 1),
        take(berlin('2027-03-28T12:00:00+02:00'), 2),
        ...comeBack(2),
      ],
    },
    {
      name: 'weeks from Sunday, half an hour off',
      limit: {
        algorithm: 'fixed-window',
        quota: 4,
        window: 'week',
        timeZone: 'America/St_Johns',
        startsOn: 'sunday',
      },
      steps: [take(T, 4), take(T + 1, 1), ...comeBack(1), ...untilReset(4)],
    },
    {
      name: 'months from the 31st, in shorter months from the last day',
      limit: { algorithm: 'fixed-window', quota: 5, window: 'month', startsOn: 31 },
      steps: [
        take(Date.parse('2027-01-31T00:00:00Z'), 5),
        take(Date.parse('2027-02-27T23:59:59Z'), 1),
        ...comeBack(1),
        take(Date.parse('2027-03-30T00:00:00Z'), 4),
        take(Date.parse('2027-03-30T00:00:00Z'), 1),
        ...comeBack(1),
        take(Date.parse('2028-02-28T00:00:00Z'), 5, 'a leap year'),
        ...comeBack(5),
        refund(Date.parse('2028-03-01T00:00:00Z'), 2, Date.parse('2028-02-29T00:00:00Z')),
        take(Date.parse('2028-03-01T00:00:00Z'), 2),
        ...untilReset(5),
      ],
    },
  ],
  'stamped-log': [
    {
      name: 'two stamps for six units',
      limit: { algorithm: 'sliding-log', quota: 6, window: 1000, stamps: 2 },
      steps: [
        take(T, 1),
        take(T + 100, 1),
        take(T + 200, 1, 'the first stamp'),
        take(T + 300, 2),
        peek(T + 999, 2),
        take(T + 1000, 2, 'one unit is older than the window, but its segment counts'),
        ...comeBack(2),
        take(T + 1250, 3),
        ...comeBack(3),
        ...untilReset(6),
      ],
    },
    {
      name: 'a million units in an hour',
      limit: { algorithm: 'sliding-log', quota: 1_000_000, window: 3_600_000, stamps: 32 },
      steps: [
        take(T, 400_000),
        take(T + 60_000, 500_000),
        take(T + 120_000, 100_001),
        take(T + 120_000, 100_000),
        take(T + 120_000, 1),
        ...comeBack(1),
        take(T + 3_600_001, 400_000),
        ...comeBack(400_000),
        ...untilReset(1_000_000),
      ],
    },
    {
      name: 'a stamp for each unit is the exact log',
      limit: { algorithm: 'sliding-log', quota: 3, window: 10_000, stamps: 3 },
      steps: [
        take(T + 1000, 1),
        take(T + 4000, 1),
        take(T + 4000, 1),
        take(T + 6000, 1),
        ...comeBack(1),
        take(T + 11_000, 1),
        refund(T + 11_500, 1, T + 11_000, 'the newest unit'),
        take(T + 12_000, 1),
        ...untilReset(3),
      ],
    },
  ],
}
