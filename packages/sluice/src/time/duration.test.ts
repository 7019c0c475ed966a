import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  duration,
  DURATION_FORMS,
  DURATION_UNITS,
  durationText,
  periodText,
  tryDuration,
  type Duration,
  type DurationUnit,
} from './duration.ts'

describe('duration', () => {
  it.each<[Duration, number]>([
    [1, 1],
    [86_400_000, 86_400_000],
    ['500ms', 500],
    ['ms', 1],
    ['10s', 10_000],
    ['10sec', 10_000],
    ['1m', 60_000],
    ['1min', 60_000],
    ['min', 60_000],
    ['1h', 3_600_000],
    ['hour', 3_600_000],
    ['1d', 86_400_000],
    ['day', 86_400_000],
    ['40d', 3_456_000_000],
    ['2w', 1_209_600_000],
    ['week', 604_800_000],
    ['minute', 60_000],
    ['minutes', 60_000],
    ['1minute', 60_000],
    ['90seconds', 90_000],
    ['15minutes', 900_000],
    ['2hours', 7_200_000],
    ['30days', 2_592_000_000],
    ['2weeks', 1_209_600_000],
    ['010s' as Duration, 10_000],
    [' 10s ' as Duration, 10_000],
  ])('of %j is %i ms', (value, millis) => {
    expect(duration(value)).toBe(millis)
  })

  it.each<[unknown, string]>([
    ['', '""'],
    ['10', '"10"'],
    ['0s', '"0s"'],
    ['-1s', '"-1s"'],
    ['1.5h', '"1.5h"'],
    ['1 h', '"1 h"'],
    ['1H', '"1H"'],
    ['1e3s', '"1e3s"'],
    ['10s!', '"10s!"'],
    ['1h30min', '"1h30min"'],
    ['1fortnight', '"1fortnight"'],
    ['1minutess', '"1minutess"'],
    ['5mins', '"5mins"'],
    ['constructor', '"constructor"'],
    ['9007199254740992ms', '"9007199254740992ms"'],
    ['99999999999999999ms', '"99999999999999999ms"'],
    ['9007199254740991w', '"9007199254740991w"'],
    [0, '0'],
    [-1, '-1'],
    [1.5, '1.5'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    [2 ** 53, '9007199254740992'],
    [10n, '10n'],
    [null, 'null'],
    [undefined, 'undefined'],
    [{}, '{}'],
    [['1s'], '["1s"]'],
  ])('refuses %s and says what is accepted', (value, shown) => {
    expect(tryDuration(value)).toBeUndefined()
    expect(() => duration(value as Duration)).toThrow(
      expect.objectContaining({
        name: 'SluiceError',
        code: 'invalid-duration',
        message: `duration is ${shown}; accepted: whole milliseconds above 0, or a number and a unit such as '500ms', '10s', '1min' (units: ms, s, sec, second, m, min, minute, h, hour, d, day, w, week, or their plurals)`,
      }),
    )
  })

  it('knows every unit that the compiler knows, and no other', () => {
    const units: Record<DurationUnit, number> = {
      ms: 1,
      s: 1000,
      sec: 1000,
      second: 1000,
      seconds: 1000,
      m: 60_000,
      min: 60_000,
      minute: 60_000,
      minutes: 60_000,
      h: 3_600_000,
      hour: 3_600_000,
      hours: 3_600_000,
      d: 86_400_000,
      day: 86_400_000,
      days: 86_400_000,
      w: 604_800_000,
      week: 604_800_000,
      weeks: 604_800_000,
    }
    expect(DURATION_UNITS).toEqual(Object.keys(units))
    for (const [unit, millis] of Object.entries(units)) {
      expect(duration(`7${unit as DurationUnit}`)).toBe(7 * millis)
      // The message leaves the plurals of words to its last words.
      expect(DURATION_FORMS).toMatch(new RegExp(`\\b${unit.replace(/(?<=...)s$/, '')}\\b`))
    }
  })
})

describe('durationText', () => {
  it.each([
    [1, '1ms', 'ms'],
    [999, '999ms', '999ms'],
    [1000, '1s', 's'],
    [10_000, '10s', '10s'],
    [60_000, '1min', 'min'],
    [90_000, '90s', '90s'],
    [3_600_000, '1h', 'h'],
    [86_400_000, '1d', 'day'],
    [604_800_000, '1w', 'week'],
    [3_456_000_000, '40d', '40d'],
  ])('of %i is %s, and as a period %s', (millis, text, period) => {
    expect(durationText(millis)).toBe(text)
    expect(periodText(millis)).toBe(period)
  })

  it('reads back as the same duration', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (millis) => {
        expect(tryDuration(durationText(millis))).toBe(millis)
        expect(tryDuration(periodText(millis))).toBe(millis)
      }),
    )
  })
})
