// The JSON Schema of limits: a rate as text, or its parts.
import { algorithmOf, ALGORITHMS, type AlgorithmName } from '../src/algorithms/table.ts'
import { MAX_STAMPS, type Limit } from '../src/limit/limit.ts'
import { CALENDAR_UNITS, WEEKDAYS } from '../src/time/calendar.ts'
import { DURATION_UNITS } from '../src/time/duration.ts'
import { ref, table, units, type Schema } from './schema-parts.ts'

const DURATION = `(?!0+[a-z])\\d{0,16}(?:${DURATION_UNITS.join('|')})`

/** The named parts for limits. */
export function limitSchemas(): Schema {
  return {
    limit: { title: 'Limit', anyOf: [ref('rate'), ref('limitFields')] },
    limitOrNone: { title: 'Limit, or none', anyOf: [{ const: 'unlimited' }, ref('limit')] },
    rate: {
      title: 'Rate',
      description: 'Units per window for a token bucket: 100/min, 5/10s, 1000/1h.',
      type: 'string',
      pattern: `^\\s*\\d+(?:_\\d+)*\\s*/\\s*${DURATION}\\s*$`,
    },
    duration: {
      title: 'Duration',
      anyOf: [{ type: 'string', pattern: `^\\s*${DURATION}\\s*$` }, units('Milliseconds.', 1)],
    },
    limitFields: {
      title: 'Limit in parts',
      ...table<Omit<Limit, 'lockFor' | 'lockGrow' | 'lockUpTo' | 'slots'>>(
        {
          quota: units('Units per window; 0 refuses every cost above 0.', 0),
          window: {
            anyOf: [{ const: 'month' }, ref('duration')],
            description:
              "The period: whole milliseconds, or a string such as '10s', '1min', '2hours', '30d', 'month'. With a time zone: 'day', 'week' or 'month' of the calendar.",
          },
          algorithm: {
            description: 'How units are counted.',
            enum: ALGORITHMS,
            default: ALGORITHMS[0],
          },
          burst: units('Most units at once. Default: the quota.', 0),
          anchor: {
            description: 'Fixed windows that begin with the first request.',
            const: 'first',
          },
          calendar: {
            description: 'Fixed windows that are periods of the calendar; says the window.',
            enum: CALENDAR_UNITS,
          },
          timeZone: {
            description: 'The IANA name of the time zone of a calendar. Default: UTC.',
            type: 'string',
            minLength: 1,
          },
          startsOn: {
            description:
              'The first day of a week (default monday) or month (default 1; in a shorter month its last day).',
            anyOf: [{ enum: WEEKDAYS }, { type: 'integer', minimum: 1, maximum: 31 }],
          },
          stamps: {
            description:
              'For a sliding log: how many instants are kept at most. Constant memory, for a quota of any size.',
            type: 'integer',
            minimum: 1,
            maximum: MAX_STAMPS,
          },
        },
        ['quota'],
      ),
      allOf: [
        {
          anyOf: ['window', 'calendar'].map((name) => ({
            properties: { [name]: {} },
            required: [name],
          })),
        },
        {
          anyOf: [
            { properties: { quota: { const: 0 }, burst: { type: 'integer', maximum: 0 } } },
            {
              properties: {
                quota: { type: 'integer', minimum: 1 },
                burst: { type: 'integer', minimum: 1 },
              },
            },
          ],
        },
        ...quotaSchemas(),
      ],
    },
  }
}

/** For each algorithm that has a largest quota: another algorithm, a quota up to that, or stamps. */
function quotaSchemas(): Schema[] {
  const maxQuota = (name: AlgorithmName): number => algorithmOf({ algorithm: name }).maxQuota
  return ALGORITHMS.filter((name) => maxQuota(name) < Infinity).map((name) => ({
    anyOf: [
      { properties: { algorithm: { enum: ALGORITHMS.filter((other) => other !== name) } } },
      { properties: { quota: { type: 'integer', maximum: maxQuota(name) } } },
      { properties: { stamps: {} }, required: ['stamps'] },
    ],
  }))
}
