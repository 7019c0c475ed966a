// What /metrics says, judged by Prometheus' own tool.
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { administered } from './admin/admin.ts'
import { running } from './running.ts'

const policies = [
  {
    name: 'api',
    rules: [
      { name: 'per-key', by: ['key'], limit: '2/h' },
      { name: 'tried "first"', by: ['key'], limit: '1/h', shadow: true },
    ],
  },
]

test('promtool finds nothing to complain of', async () => {
  const { post, metrics } = await running({ policies })
  for (let i = 0; i < 3; i++) await post('/v1/check', { key: 'a' })
  await post('/v1/check', {})
  const text = await metrics()
  expect(execFileSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })).toBe('')
})

test('nor of a service with every listener, after requests to each', async () => {
  const { ask, post, listeners, metrics } = await administered({
    listeners: { grpc: { port: 0 }, proxy: { port: 0, upstream: 'http://127.0.0.1:1' } },
  })
  await post('/v1/check', { key: 'a' })
  await ask('block', { attributes: { user: 'ann' }, for: '1min' })
  await ask('state')
  await fetch(listeners.find(({ name }) => name === 'proxy')!.url)
  const text = await metrics()
  expect(text).toContain('sluice_proxy_requests_total{result="upstream-unreachable"} 1\n')
  expect(execFileSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })).toBe('')
})

test('names from the file cannot break the text, and those of requests are not in it', async () => {
  const hostile = 'a"b\\c{} 1'
  const { post, metrics } = await running({
    policies: [{ name: 'api', rules: [{ name: hostile, by: [hostile, 'user'], limit: '1/h' }] }],
  })
  const user = `secret\r\n# TYPE forged counter\nforged 1\n${'x'.repeat(4000)}`
  for (let i = 0; i < 3; i++)
    await post('/v1/check', { policy: 'api', attributes: { [hostile]: 'v', user } })
  await post('/v1/check', { policy: 'api', attributes: { user: 'secret' } })
  const text = await metrics()
  expect(text).not.toMatch(/forged|secret/)
  expect(execFileSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })).toBe('')
  const label = String.raw`a\"b\\c{} 1`
  expect(text).toContain(`{policy="api",rule="${label}",result="refused"} 2\n`)
  expect(text).toContain(`{policy="api",rule="${label}",missing="${label}"} 1\n`)
})

test.each(['a\r\nb', 'a\u0000b', 'a\u001b[31m', 'a\u202eb', 'x'.repeat(65_536)])(
  'a rule with a name that breaks lines, terminals or headers is a mistake of the file: case %#',
  async (name) => {
    const policies = [{ name: 'api', rules: [{ name, by: ['key'], limit: '1/h' }] }]
    await expect(running({ policies })).rejects.toThrow('1 to 128 printable ASCII characters')
  },
)

test('counts decisions by the binding rule, and what shadows would have refused', async () => {
  const { post, metrics } = await running({ policies })
  const before = await metrics()
  expect(before).toContain('sluice_decisions_total{policy="api",rule="per-key",result="refused"} 0')
  for (let i = 0; i < 3; i++) await post('/v1/check', { key: 'a' })
  await post('/v1/check', { attributes: { user: 'x' } })
  const lines = (await metrics()).split('\n')
  expect(lines).toEqual(
    expect.arrayContaining([
      'sluice_decisions_total{policy="api",rule="per-key",result="allowed"} 2',
      'sluice_decisions_total{policy="api",rule="per-key",result="refused"} 1',
      'sluice_decisions_total{policy="api",rule="",result="allowed"} 1',
      String.raw`sluice_shadow_refusals_total{policy="api",rule="tried \"first\""} 2`,
      'sluice_degraded_decisions_total{policy="api"} 0',
      'sluice_decision_duration_seconds_count{policy="api"} 4',
      'sluice_decision_duration_seconds_bucket{policy="api",le="+Inf"} 4',
      'sluice_http_requests_total{route="/v1/check",status="200"} 4',
      'sluice_store_keys 2',
      'sluice_ready 1',
    ]),
  )
})

test('counts the requests that a rule skipped because an attribute was missing', async () => {
  const { post, metrics } = await running({
    policies: [{ name: 'api', rules: [{ name: 'per-user', by: ['user', 'plan'], limit: '2/h' }] }],
  })
  await post('/v1/check', { attributes: { usr: 'ann', plan: 'free' } })
  await post('/v1/check', { attributes: { user: 'ann' } })
  await post('/v1/check', { attributes: { user: 'ann', plan: 'free' } })
  const text = await metrics()
  for (const missing of ['user', 'plan'])
    expect(text).toContain(
      `sluice_rule_skipped_total{policy="api",rule="per-user",missing="${missing}"} 1\n`,
    )
})

test('measures what each rule leaves, how old its counts are, and which keys are new', async () => {
  const rules = [
    { name: 'per-user', by: ['user'], limit: { quota: 10, window: '1h', burst: 20 } },
    { name: 'soft', by: ['user'], limit: '15/h', onExceed: 'mark' },
  ]
  const { post, metrics } = await running({ policies: [{ name: 'api', rules }] })
  for (let i = 0; i < 18; i++) await post('/v1/check', { attributes: { user: 'ann' } })
  await post('/v1/check', { attributes: { user: 'bob' } })
  const rule = 'policy="api",rule="per-user"'
  expect((await metrics()).split('\n')).toEqual(
    expect.arrayContaining([
      `sluice_rule_limit{${rule},part="quota"} 10`,
      `sluice_rule_limit{${rule},part="burst"} 20`,
      `sluice_rule_limit{${rule},part="window_seconds"} 3600`,
      `sluice_rule_remaining_ratio_count{${rule}} 19`,
      // Those that left 4, 3 and 2 of 20.
      `sluice_rule_near_limit_total{${rule}} 3`,
      `sluice_rule_cold_starts_total{${rule}} 2`,
      // All but the first of each key.
      `sluice_rule_state_age_seconds_count{${rule}} 17`,
      'sluice_marked_total{policy="api",rule="soft"} 3',
    ]),
  )
})

test('a rule that is skipped in each of its first thousand requests is logged, once', async () => {
  const rules = [
    { name: 'per-user', by: ['usr'], limit: '2/h' },
    { name: 'per-key', by: ['key'], limit: '9999/h' },
    { name: 'again', by: ['usr', 'key'], limit: '2/h' },
  ]
  const { post, logged } = await running({ policies: [{ name: 'api', rules }] })
  const checks = (count: number, attributes: object) =>
    post('/v1/check', { checks: Array.from({ length: count }, () => ({ attributes })) })
  await checks(1, { usr: 'ann', key: 'a' })
  for (let i = 0; i < 12; i++) await checks(100, { user: 'ann', key: 'a' })
  expect(logged().filter(({ missing }) => missing !== undefined)).toEqual([])
  const other = await running({ policies: [{ name: 'api', rules }] })
  for (let i = 0; i < 12; i++)
    await other.post('/v1/check', {
      checks: Array.from({ length: 100 }, () => ({ attributes: { user: 'ann', key: 'a' } })),
    })
  const lines = other.logged().filter(({ missing }) => missing !== undefined)
  expect(lines).toMatchObject([
    { policy: 'api', rule: 'per-user', missing: 'usr' },
    { policy: 'api', rule: 'again', missing: 'usr' },
  ])
})

test('is what Prometheus asks for', async () => {
  const { url } = await running({ policies })
  const response = await fetch(`${url}/metrics`)
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
})
