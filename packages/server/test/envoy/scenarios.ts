// What the rate limit service must answer, step by step, whatever client asks. The clock stands still unless moved.
import {
  DAY,
  HOUR,
  MINUTE,
  MONTH,
  OK,
  OVER,
  SECOND,
  UNLIMITED,
  WEEK,
  YEAR,
  type Outcome,
  type Question,
  type QuestionDescriptor,
  type Status,
} from './client.ts'

/** Time that passes before the question, in milliseconds; the question; what must come back, in part. */
export interface Step {
  readonly after?: number
  readonly ask: Question
  readonly expect: Outcome
}

const INVALID_ARGUMENT = 3

function entries(text: string): QuestionDescriptor['entries'] {
  return text.split(' ').map((pair) => pair.split('=') as [string, string])
}

/** A descriptor of text such as `kind=marketing to=42`. */
function of(text: string, more: Omit<QuestionDescriptor, 'entries'> = {}): QuestionDescriptor {
  return { entries: entries(text), ...more }
}

function step(
  domain: string,
  descriptors: readonly (string | QuestionDescriptor)[],
  code: number,
  statuses: readonly Status[],
  more: { hits?: number; after?: number } = {},
): Step {
  const { hits, after } = more
  const asked = descriptors.map((one) => (typeof one === 'string' ? of(one) : one))
  return {
    ...(after !== undefined && { after }),
    ask: { domain, descriptors: asked, ...(hits !== undefined && { hits }) },
    expect: { status: 0, code, statuses },
  }
}

function bad(ask: Question): Step {
  return { ask, expect: { status: INVALID_ARGUMENT } }
}

const free: Status = { code: OK, remaining: 0 }
const perAddress = (code: number, remaining: number, reset = 30): Status => ({
  code,
  remaining,
  reset,
  limit: [5, MINUTE],
})
const login = (code: number, remaining: number, reset = 2370): Status => ({
  code,
  remaining,
  reset,
  limit: [3, HOUR],
  name: 'login',
})

/** Each runs on a service of its own. */
export const SCENARIOS: Readonly<Record<string, readonly Step[]>> = {
  'a window ends with its unit, and refusals say until when': [
    step('shop', ['remote_address=10.0.0.1'], OK, [perAddress(OK, 2)], { hits: 3 }),
    step('shop', ['remote_address=10.0.0.1'], OVER, [perAddress(OVER, 2)], { hits: 3 }),
    step('shop', ['remote_address=10.0.0.1'], OK, [perAddress(OK, 0)], { hits: 2 }),
    step('shop', ['remote_address=10.0.0.1'], OVER, [perAddress(OVER, 0, 1)], { after: 29_500 }),
    step('shop', ['remote_address=10.0.0.1'], OK, [perAddress(OK, 4, 60)], { after: 500 }),
  ],
  'each value has its own count, and a value of its own goes first': [
    step('shop', ['remote_address=10.0.0.1'], OK, [perAddress(OK, 0)], { hits: 5 }),
    step('shop', ['remote_address=10.0.0.2'], OK, [perAddress(OK, 4)]),
    step('shop', ['remote_address=198.51.100.7'], OK, [
      { code: OK, remaining: 9, reset: 30, limit: [10, MINUTE] },
    ]),
  ],
  'unlimited is more than anybody can use': [
    step('shop', ['remote_address=203.0.113.9'], OK, [{ code: OK, remaining: UNLIMITED }], {
      hits: 1_000_000,
    }),
  ],
  'nested descriptors match at their own depth only': [
    step('shop', ['path=/login account=amy remote_address=10.0.0.1'], OK, [login(OK, 0)], {
      hits: 3,
    }),
    step('shop', ['path=/login account=amy remote_address=10.0.0.1'], OVER, [login(OVER, 0)]),
    step('shop', ['path=/login account=bob remote_address=10.0.0.1'], OK, [login(OK, 2)]),
    step('shop', ['path=/login account=amy'], OK, [free]),
    step('shop', ['path=/login account=amy remote_address=10.0.0.1 more=1'], OK, [free]),
    step('shop', ['account=amy path=/login remote_address=10.0.0.1'], OK, [free]),
  ],
  'domains and descriptors that nobody knows are not limited': [
    step('nowhere', ['remote_address=10.0.0.1', 'path=/legacy'], OK, [free, free]),
    step('shop', ['colour=red'], OK, [free]),
  ],
  'a refused request takes nothing from anybody': [
    step(
      'shop',
      ['remote_address=10.0.0.1', 'path=/login account=amy remote_address=10.0.0.1'],
      OK,
      [perAddress(OK, 2), login(OK, 0)],
      { hits: 3 },
    ),
    step(
      'shop',
      ['remote_address=10.0.0.1', 'path=/login account=amy remote_address=10.0.0.1'],
      OVER,
      [perAddress(OK, 2), login(OVER, 0)],
    ),
    step('shop', ['remote_address=10.0.0.1'], OK, [perAddress(OK, 1)]),
  ],
  'hits of a descriptor go before those of the request, and 0 only looks': [
    step(
      'shop',
      [of('remote_address=10.0.0.1', { hits: 4 }), 'remote_address=10.0.0.2'],
      OK,
      [perAddress(OK, 1), perAddress(OK, 3)],
      { hits: 2 },
    ),
    step('shop', [of('remote_address=10.0.0.1', { hits: 0 })], OK, [perAddress(OK, 1)], {
      hits: 9,
    }),
    step('shop', ['remote_address=10.0.0.1'], OK, [perAddress(OK, 0)]),
    step('shop', [of('remote_address=10.0.0.1', { hits: 0 })], OVER, [perAddress(OVER, 0)]),
  ],
  'a look that finds nothing left refuses, and others pay nothing': [
    step('shop', ['remote_address=10.0.0.1'], OK, [perAddress(OK, 0)], { hits: 5 }),
    step('shop', [of('remote_address=10.0.0.1', { hits: 0 }), 'remote_address=10.0.0.2'], OVER, [
      perAddress(OVER, 0),
      perAddress(OK, 5, 0),
    ]),
    step('shop', [of('remote_address=10.0.0.2', { hits: 0 })], OK, [
      { code: OK, remaining: 5, reset: 0, limit: [5, MINUTE] },
    ]),
  ],
  'negative hits hand units back, never above the limit, and not for a refused request': [
    step('shop', ['remote_address=10.0.0.1'], OK, [perAddress(OK, 1)], { hits: 4 }),
    step('shop', [of('remote_address=10.0.0.1', { hits: 2, negative: true })], OK, [
      perAddress(OK, 3),
    ]),
    step(
      'shop',
      [of('remote_address=10.0.0.1', { hits: 2, negative: true }), 'path=/legacy'],
      OVER,
      [perAddress(OK, 3), { code: OVER, remaining: 0, reset: 0, limit: [0, SECOND] }],
    ),
    step('shop', [of('remote_address=10.0.0.1', { hits: 99, negative: true })], OK, [
      { code: OK, remaining: 5, reset: 0, limit: [5, MINUTE] },
    ]),
  ],
  'a limit of the caller replaces the configured one and keeps its count': [
    step('shop', ['remote_address=10.0.0.1'], OK, [perAddress(OK, 0)], { hits: 5 }),
    step('shop', [of('remote_address=10.0.0.1', { limit: [7, MINUTE] })], OK, [
      { code: OK, remaining: 1, reset: 30, limit: [7, MINUTE] },
    ]),
    step('shop', [of('remote_address=10.0.0.1', { limit: [1, HOUR] })], OK, [
      { code: OK, remaining: 0, reset: 2370, limit: [1, HOUR] },
    ]),
    step('shop', [of('tenant=a', { limit: [1, SECOND] })], OK, [
      { code: OK, remaining: 0, reset: 1, limit: [1, SECOND] },
    ]),
    step('shop', [of('tenant=a', { limit: [1, SECOND] })], OVER, [
      { code: OVER, remaining: 0, reset: 1, limit: [1, SECOND] },
    ]),
    step('shop', [of('tenant=b', { limit: [1, SECOND] })], OK, [
      { code: OK, remaining: 0, reset: 1, limit: [1, SECOND] },
    ]),
    step('nowhere', [of('tenant=a', { limit: [1, SECOND] })], OK, [free]),
  ],
  'a star counts each value alone, or all together where they share': [
    step(
      'shop',
      ['file=images/a.png'],
      OK,
      [{ code: OK, remaining: 0, reset: 1, limit: [2, SECOND] }],
      { hits: 2 },
    ),
    step('shop', ['file=images/b.png'], OK, [
      { code: OK, remaining: 1, reset: 1, limit: [2, SECOND] },
    ]),
    step('shop', ['file=reports/a.pdf'], OK, [
      { code: OK, remaining: 1, reset: 49_170, limit: [2, DAY] },
    ]),
    step('shop', ['file=reports/b.pdf'], OK, [
      { code: OK, remaining: 0, reset: 49_170, limit: [2, DAY] },
    ]),
    step('shop', ['file=reports/c.pdf'], OVER, [
      { code: OVER, remaining: 0, reset: 49_170, limit: [2, DAY] },
    ]),
    step('shop', ['file=other'], OK, [free]),
  ],
  'a limit of 0 refuses everything': [
    step('shop', ['path=/legacy'], OVER, [
      { code: OVER, remaining: 0, reset: 0, limit: [0, SECOND] },
    ]),
  ],
  'shadow mode counts and never refuses': [
    step('shop', ['plan=trial'], OK, [
      { code: OK, remaining: 0, reset: 221_970, limit: [1, WEEK] },
    ]),
    step('shop', ['plan=trial', 'remote_address=10.0.0.1'], OK, [
      { code: OK, remaining: 0, reset: 221_970, limit: [1, WEEK] },
      perAddress(OK, 4),
    ]),
  ],
  'quota mode counts and never refuses': [
    step('shop', ['model=small', 'model=large'], OK, [
      { code: OK, remaining: 0, reset: 1_431_570, limit: [1, MONTH] },
      { code: OK, remaining: 999_999_999, reset: 2_727_570, limit: [1_000_000_000, YEAR] },
    ]),
    step('shop', ['model=small'], OK, [
      { code: OK, remaining: 0, reset: 1_431_570, limit: [1, MONTH] },
    ]),
  ],
  'a limit that another one replaces does not apply and is not charged': [
    step('messages', ['to=42', 'premium=42'], OK, [
      free,
      { code: OK, remaining: 5, reset: 49_170, limit: [6, DAY] },
    ]),
    step('messages', ['to=42'], OK, [
      { code: OK, remaining: 3, reset: 49_170, limit: [4, DAY], name: 'per-number' },
    ]),
  ],
  'values are taken as they are written, anchors as they are meant': [
    step('messages', ['code=0123'], OK, [
      { code: OK, remaining: 0, reset: 49_170, limit: [1, DAY] },
    ]),
    step('messages', ['code=123'], OK, [free]),
    step('messages', ['kind=marketing to=42'], OK, [
      { code: OK, remaining: 1, reset: 49_170, limit: [2, DAY] },
    ]),
  ],
  'two descriptors of one count are charged one after the other': [
    step(
      'shop',
      ['remote_address=10.0.0.1', 'remote_address=10.0.0.1'],
      OVER,
      [perAddress(OK, 5, 0), perAddress(OVER, 5)],
      { hits: 3 },
    ),
    step(
      'shop',
      ['remote_address=10.0.0.1', 'remote_address=10.0.0.1'],
      OK,
      [perAddress(OK, 3), perAddress(OK, 1)],
      { hits: 2 },
    ),
  ],
  'requests that make no sense are the caller’s mistake and count nothing': [
    bad({ domain: '', descriptors: [of('remote_address=10.0.0.1')] }),
    bad({ domain: 'shop', descriptors: [] }),
    bad({ domain: 'shop', descriptors: [of('remote_address=10.0.0.1'), { entries: [] }] }),
    bad({ domain: 'shop', descriptors: [of('remote_address=10.0.0.1'), { entries: [['', 'x']] }] }),
    bad({
      domain: 'shop',
      descriptors: [of('remote_address=10.0.0.1'), of('a=b', { limit: [1, 0] })],
    }),
    bad({
      domain: 'shop',
      descriptors: [of('remote_address=10.0.0.1'), of('a=b', { limit: [1, 99] })],
    }),
    step('shop', ['remote_address=10.0.0.1'], OK, [perAddress(OK, 4)]),
  ],
}
