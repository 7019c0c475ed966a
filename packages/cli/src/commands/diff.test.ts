import { describe, expect, it } from 'vitest'
import { diffCommand, type DiffFlags, type DiffResult } from './diff.ts'
import { fileWith } from '../../test/test-folder.ts'
import { lineOf, START, streamsWith } from '../../test/test-log.ts'

const base = `policies:
  - name: api
    rules:
      - { name: per-ip, by: [ip], limit: 10/min }
`

async function diff(
  before: string,
  after: string,
  flags: DiffFlags = {},
  log = '',
): Promise<string> {
  const streams = streamsWith()
  const against = log === '' ? {} : { against: [fileWith(log, 'access.log')] }
  expect(
    await diffCommand(fileWith(before), fileWith(after), { ...against, ...flags }, streams),
  ).toBe(0)
  return streams.out()
}

describe('changes in words', () => {
  it.each<[string, string, string]>([
    [
      '10/min',
      '20/min',
      'the limit rises from 10/min (token bucket) to 20/min (token bucket) [looser]',
    ],
    [
      '10/min',
      '5/min',
      'the limit falls from 10/min (token bucket) to 5/min (token bucket) [stricter]',
    ],
    [
      '10/min',
      '600/h',
      'the limit rises from 10/min (token bucket) to 600/h (token bucket); counts start afresh [looser]',
    ],
    [
      '10/min',
      '{ quota: 10, window: 1min, algorithm: gcra }',
      'the limit changes from 10/min (token bucket) to 10/min (gcra); counts start afresh',
    ],
    ['[ip]', '[user]', 'it counts by user instead of ip; counts start afresh'],
    ['10/min }', '10/min, shadow: true }', 'it only counts now, and refuses nothing [looser]'],
    ['10/min }', '10/min, countRefused: true }', 'refused requests count now [stricter]'],
    [
      '10/min }',
      '10/min, onStoreFailure: closed }',
      'without the store it refuses requests instead of counts in the process',
    ],
    ['10/min }', '10/min, cost: 5 }', 'a request costs 5 instead of 1'],
    [
      '10/min }',
      '10/min, when: { route: /a } }',
      'it applies when route is "/a" instead of always',
    ],
    ['10/min }', '10/min, hidden: true }', 'headers no longer show it'],
  ])('%s → %s', async (from, to, message) => {
    expect(await diff(base, base.replace(from, to))).toBe(`policy api, rule per-ip\n  ${message}\n`)
  })

  it('name rules and policies that are new or gone', async () => {
    const more = `${base}      - { name: login, when: { route: /login }, by: [ip], limit: 5/min }\n`
    expect(await diff(base, more)).toBe(
      'policy api, rule login\n  the rule is new: 5/min (token bucket) for each ip, when route is /login [stricter]\n',
    )
    expect(await diff(more, base)).toContain('the rule is gone: 5/min (token bucket)')
    expect(await diff(base, base.replace('api', 'web'))).toContain(
      'policy web\n  the policy is new',
    )
  })

  it('name tiers and settings', async () => {
    const tiers = (limit: string): string =>
      base.replace('10/min }', `10/min, tiers: { attribute: plan, limits: { pro: ${limit} } } }`)
    expect(await diff(tiers('100/min'), tiers('50/min'))).toContain(
      'the limit of tier pro falls from 100/min',
    )
    expect(await diff(base, `${base}trustedProxies: [10.0.0.0/8]\n`)).toContain(
      'service\n  trusted proxies change from none to 10.0.0.0/8',
    )
  })

  it('are none when only the writing differs', async () => {
    const same = base.replace('10/min', '{ window: 60s, quota: 10 }')
    expect(await diff(base, same)).toBe('Nothing changes in what is limited.\n')
  })
})

describe('a diff against a log', () => {
  const log = [
    ...Array.from({ length: 15 }, () => lineOf(START, '192.0.2.1')),
    ...Array.from({ length: 8 }, () => lineOf(START, '192.0.2.2')),
    ...Array.from({ length: 3 }, () => lineOf(START, '192.0.2.3')),
  ].join('\n')

  it('says who is newly refused', async () => {
    const text = await diff(base, base.replace('10/min', '5/min'), { showKeys: true }, log)
    expect(text).toContain('On 26 requests of 3 clients: refused before 5 (19.2%), now 13 (50.0%).')
    expect(text).toContain('Newly refused: 1 client. Freed: 0 clients.')
    expect(text).toMatch(/192\.0\.2\.1 +15 +5 +10\n +192\.0\.2\.2 +8 +0 +3/)
  })

  it('says who is freed, and hides who they are', async () => {
    const streams = streamsWith()
    const files = [fileWith(base), fileWith(base.replace('10/min', '20/min'))] as const
    const flags = { against: [fileWith(log, 'access.log')], json: true }
    await diffCommand(...files, flags, streams)
    const { effect } = JSON.parse(streams.out()) as DiffResult
    expect(effect).toMatchObject({ before: 5, after: 0, newlyRefused: 0, freed: 1, worse: [] })
    expect(effect!.better).toEqual([
      { client: expect.stringMatching(/^#[0-9a-f]{10}$/), requests: 15, before: 5, after: 0 },
    ])
  })
})

it.each<[string, string, DiffFlags, string]>([
  ['a mistake in a file', base.replace('limit', 'limt'), {}, 'limt is not a known field'],
  [
    'no policy in common',
    base.replace('api', 'web'),
    { against: ['x'] },
    'no policy of the same name',
  ],
  [
    'a policy that is not there',
    base,
    { against: ['x'], use: 'web' },
    'not both files have the policy web; accepted: --use api',
  ],
])('%s is a clear error', async (_, after, flags, message) => {
  await expect(diffCommand(fileWith(base), fileWith(after), flags, streamsWith())).rejects.toThrow(
    message,
  )
})
