import { describe, expect, it } from 'vitest'
import { parsePolicy } from '../policy/parse.ts'
import { compilePolicy } from '../policy/compile.ts'
import { limit, limitText, type LimitFields } from './limit.ts'

const DAY = 86_400_000

describe('windows of a limit', () => {
  it.each<[LimitFields, object, string]>([
    [
      { quota: 5, window: '1min', anchor: 'first' },
      { algorithm: 'fixed-window', window: 60_000, anchor: 'first' },
      'fixed window 5/min, from the first request',
    ],
    [
      { quota: 5, window: 'day', timeZone: 'Europe/Berlin' },
      { algorithm: 'fixed-window', window: DAY, calendar: 'day', timeZone: 'Europe/Berlin' },
      'fixed window 5/day of the calendar in Europe/Berlin',
    ],
    [
      { quota: 5, window: 'week', startsOn: 'sunday' },
      { window: 7 * DAY, calendar: 'week', timeZone: 'UTC', startsOn: 'sunday' },
      'fixed window 5/week of the calendar in UTC, from sunday',
    ],
    [
      { quota: 5, window: 'month' },
      { window: 31 * DAY, calendar: 'month', timeZone: 'UTC', startsOn: 1 },
      'fixed window 5/month of the calendar in UTC',
    ],
    [
      { quota: 5, calendar: 'month', startsOn: 31, algorithm: 'fixed-window' },
      { window: 31 * DAY, calendar: 'month', timeZone: 'UTC', startsOn: 31 },
      'fixed window 5/month of the calendar in UTC, from day 31',
    ],
    [
      { quota: 5, window: 'day' },
      { algorithm: 'token-bucket', quota: 5, window: DAY, burst: 5 },
      'token bucket 5/day',
    ],
  ])('%j', (fields, expected, text) => {
    const made = limit(fields)
    expect(made).toMatchObject(expected)
    expect(limit(made)).toEqual(made)
    expect(limitText(made)).toBe(text)
  })

  it.each<[object, string]>([
    [{ window: '1min', anchor: 'last' }, 'anchor is "last"; accepted: \'first\''],
    [{ window: '1min', anchor: 'first', algorithm: 'gcra' }, 'algorithm is "gcra" with an anchor'],
    [{ window: '1min', anchor: 'first', burst: 7 }, 'burst is 7'],
    [{ window: 'month', algorithm: 'token-bucket' }, 'algorithm is "token-bucket" with a calendar'],
    [{ window: '1min', timeZone: 'UTC' }, 'window is "1min" with a time zone; accepted: day, week'],
    [
      { window: 'month', timeZone: 'Mars/Olympus' },
      'timeZone is "Mars/Olympus"; accepted: the IANA',
    ],
    [{ window: 'month', timeZone: 7 }, 'timeZone is 7'],
    [{ window: 'month', startsOn: 32 }, 'startsOn is 32; accepted: a day from 1 to 31'],
    [{ window: 'month', startsOn: 1.5 }, 'startsOn is 1.5'],
    [{ window: 'month', startsOn: 'monday' }, 'startsOn is "monday"; accepted: a day'],
    [{ window: 'week', startsOn: 'mon' }, 'startsOn is "mon"; accepted: sunday, monday'],
    [{ window: 'day', timeZone: 'UTC', startsOn: 1 }, 'startsOn is 1 with days'],
    [{ calendar: 'year' }, 'calendar is "year"; accepted: day, week, month'],
    [{ calendar: 'day', window: '1h' }, 'window is "1h" with calendar day'],
    [{ window: 'month', anchor: 'first' }, 'anchor is "first" with a calendar'],
    [{}, 'window is missing'],
  ])('refuses %j', (fields, message) => {
    expect(() => limit({ quota: 5, ...fields } as LimitFields)).toThrow(message)
  })

  it('report mistakes at their path in a policy', () => {
    const own = { quota: 5, window: 'month', timeZone: 'Mars/Olympus', startsOn: 99 }
    const rules = [{ name: 'r', by: [], limit: own }]
    expect(() => parsePolicy({ name: 'p', rules })).toThrow(
      /rules\[0\]\.limit\.timeZone is "Mars\/Olympus"[^]*rules\[0\]\.limit\.startsOn is 99/,
    )
  })

  it('keep their counts apart, since their states mean different things', () => {
    const limits: LimitFields[] = [
      { quota: 5, window: DAY, algorithm: 'fixed-window' },
      { quota: 5, window: DAY, anchor: 'first' },
      { quota: 5, calendar: 'day' },
      { quota: 5, calendar: 'day', timeZone: 'Asia/Tokyo' },
      { quota: 5, calendar: 'month' },
      { quota: 5, calendar: 'month', startsOn: 2 },
    ]
    const spaces = limits.map((own) => {
      const policy = parsePolicy({ name: 'p', rules: [{ name: 'r', by: [], limit: own }] })
      return compilePolicy(policy)[0]!.base!.space
    })
    expect(new Set(spaces).size).toBe(limits.length)
  })
})
