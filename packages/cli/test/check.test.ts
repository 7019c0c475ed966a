import { expect, test } from 'vitest'
import { fileWith, sluice } from './sluice.ts'

const good = `policies:
  - name: api
    rules: [{ name: per-user, by: [user], limit: 100/min }]
`
const risky = good.replace('[user]', '[path]')
const bad = good.replace('limit', 'limt')

test('explains what a valid file means', async () => {
  const file = fileWith(good)
  const { code, printed, errors } = await sluice(['check', file]).ended
  expect([code, errors]).toEqual([0, ''])
  expect(printed).toBe(`policy api
  per-user  100/min (token bucket) for each user

counts   in the memory of the process
http     127.0.0.1:8080

${file} is valid, with no warnings.
`)
})

test('warns of traps, and fails on them when asked to be strict', async () => {
  const file = fileWith(risky)
  const loose = await sluice(['check', file]).ended
  expect(loose.code).toBe(0)
  expect(loose.errors).toMatch(
    /^warning: .*sluice\.yaml:3:36: rule per-user counts by path: .*\[raw-path\]\n$/,
  )
  expect((await sluice(['check', '--strict', file]).ended).code).toBe(1)
})

test('shows every mistake where it was made', async () => {
  const file = fileWith(`${bad}log: loud\n`)
  const { code, printed, errors } = await sluice(['check', file]).ended
  expect([code, printed]).toEqual([1, ''])
  expect(errors.split('\n').map((line) => line.replace(`${file}:`, '').split(';')[0])).toEqual([
    'error: 3:13: policies[0].rules[0].limit is missing',
    'error: 3:43: policies[0].rules[0].limt is not a known field',
    'error: 4:6: log is "loud"',
    'error: 3 mistakes',
    '',
  ])
})

const descriptors = `domain: shop
descriptors:
  - key: remote_address
    rate_limit: { unit: minute, requests_per_unit: 5 }
  - key: plan
    value: gold
    descriptors:
      - key: path
        value: /export/*
        shadow_mode: true
        rate_limit: { unit: hour, requests_per_unit: 9, name: exports }
      - { key: user, rate_limit: { unlimited: true } }
`

test("checks a file of Envoy's rate limit service as such", async () => {
  const file = fileWith(descriptors)
  const { code, printed, errors } = await sluice(['check', file]).ended
  expect([code, errors]).toEqual([0, ''])
  expect(printed).toBe(`domain shop
  remote_address              5/minute for each value
  plan=gold > path=/export/*  9/hour for each value; named exports; shadow: counted, never enforced
  plan=gold > user            unlimited

It is a file of Envoy's rate limit service: serve it by envoy: { files: [...] } in a
configuration, or by RUNTIME_ROOT, as the original does.

${file} is valid, with no warnings.
`)
  const wrong = fileWith(descriptors.replace('unit: minute', 'unit: minutes'))
  const found = await sluice(['check', wrong]).ended
  expect([found.code, found.printed]).toEqual([1, ''])
  expect(found.errors).toMatch(/^error: .*sluice\.yaml:4:\d+: .*unit is "minutes"; accepted: /)
})

test('names the place of every mistake in budgets, calendars, lockouts, pools and thresholds', async () => {
  const file = fileWith(`policies:
  - name: api
    rules:
      - { name: a, by: [team], limit: 9/min, hold: never, debt: -1, holdShare: 2, weights: { input: -1 } }
      - { name: b, by: [team], concurrency: 1.5, hold: 30s }
      - { name: c, by: [team], limit: { quota: 9, window: month, timeZone: Mars/Base, startsOn: 32 } }
      - { name: d, by: [team], limit: { quota: 9, window: week, timeZone: UTC, startsOn: someday } }
      - { name: e, by: [team], limit: 9/min, onExceed: warn, thresholds: [80, 120] }
      - { name: f, by: [team], limit: 9/min, pools: [{ name: credits, limit: many }] }
      - { name: g, by: [team], limit: { quota: 9, window: 1min, algorithm: sliding-log, stamps: 0 } }
      - { name: h, by: [team], limit: 9/min, lockout: { after: 0, for: soon, grow: 0.5, upTo: -1, within: x } }
      - { name: i, by: [team], limit: { quota: 20000, window: 1min, algorithm: sliding-log } }
      - { name: j, by: [team], limit: { quota: 9, window: 1min, anchor: last } }
webhooks: [{ url: nowhere, secret: '' }]
listeners: { proxy: { upstream: 'http://127.0.0.1:1', llm: 5 } }
`)
  const { code, errors } = await sluice(['check', file]).ended
  const places = errors.split('\n').map((line) => /: (\S+) is /.exec(line)?.[1])
  expect(code).toBe(1)
  const rules = [
    ['hold', 'debt', 'holdShare', 'weights.input'],
    ['concurrency'],
    ['limit.timeZone', 'limit.startsOn'],
    ['limit.startsOn'],
    ['onExceed', 'thresholds'],
    ['pools[0].limit'],
    ['limit.stamps'],
    ['lockout.after', 'lockout.for', 'lockout.grow', 'lockout.upTo', 'lockout.within'],
    ['limit.quota'],
    ['limit.anchor'],
  ]
  expect(places.filter((place) => place !== undefined)).toEqual([
    ...rules.flatMap((fields, i) => fields.map((field) => `policies[0].rules[${i}].${field}`)),
    'webhooks[0].url',
    'webhooks[0].secret',
    'listeners.proxy.llm',
  ])
})

test('exits with code 2 when the file cannot be read', async () => {
  const { code, errors } = await sluice(['check', '/no/such/file']).ended
  expect(code).toBe(2)
  expect(errors).toContain('error: /no/such/file: cannot be read: there is no such file')
})

test.each([
  [good, 0, true, 0, 0],
  [risky, 0, true, 0, 1],
  [bad, 1, false, 2, 0],
])('--json gives the same to programs: %#', async (text, code, ok, problems, warnings) => {
  const result = await sluice(['check', '--json', fileWith(text)]).ended
  const review = JSON.parse(result.printed) as { ok: boolean; problems: []; warnings: [] }
  expect([result.code, review.ok, review.problems.length, review.warnings.length]).toEqual([
    code,
    ok,
    problems,
    warnings,
  ])
})

test('suggests the right command for a mistyped one', async () => {
  const { code, errors } = await sluice(['chekc', 'x']).ended
  expect(code).toBe(1)
  expect(errors).toContain('Did you mean check?')
})
