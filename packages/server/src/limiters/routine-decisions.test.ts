import { createLimiter, memoryStore, parsePolicy } from 'sluice'
import { fakeClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { DecisionMetrics } from '../metrics/decision-metrics.ts'
import { RecentTraffic } from '../observe/recent-traffic.ts'
import { MetricRegistry } from '../metrics/registry.ts'
import { HeldUnits } from '../metrics/units-out.ts'
import { Observer } from '../observe/observer.ts'
import { spreadOf } from '../observe/space-saving.ts'
import { decideOptions } from './decide-options.ts'

const START = 1_800_000_000_000
const policy = parsePolicy({
  name: 'api',
  rules: [
    { name: 'per-user', by: ['user'], limit: { quota: 100_000, window: '1h' } },
    { name: 'per-address', by: ['ip'], limit: { quota: 10, window: '1h' } },
  ],
})

function serving(rules = policy) {
  const clock = fakeClock(START)
  const observer = new Observer(clock)
  const metrics = new MetricRegistry()
  const store = memoryStore({ clock })
  const decisions = new DecisionMetrics(metrics, (name, rule) => observer.membersOf(name, rule))
  const recent = new RecentTraffic(clock)
  const held = new HeldUnits(metrics)
  const around = decideOptions(rules, { store, decisions, observer, held, recent })
  const limiter = createLimiter({
    policy: rules,
    store,
    onDecision: around.onDecision!,
    isTimed: around.isTimed!,
    identify: around.identify!,
  })
  const value = (series: string): number => {
    const line = metrics
      .text()
      .split('\n')
      .find((one) => one.startsWith(`${series} `))
    return Number(line?.slice(series.length + 1))
  }
  return { clock, observer, limiter, recent, value }
}

const ALLOWED = 'sluice_decisions_total{policy="api",rule="per-user",result="allowed"}'
const BY_ADDRESS = 'sluice_decisions_total{policy="api",rule="per-address",result="allowed"}'
const REFUSED = 'sluice_decisions_total{policy="api",rule="per-address",result="refused"}'
const NONE = 'sluice_decisions_total{policy="api",rule="",result="allowed"}'
const AT_ZERO = 'sluice_rule_keys_at_zero{policy="api",rule="per-address"}'
const DISTINCT = 'sluice_rule_distinct_keys{policy="api",rule="per-user"}'

describe('keys at zero', () => {
  it('are in the metrics after five minutes, until they have units again', () => {
    const { clock, observer, limiter, value } = serving()
    const pass = (millis: number) => {
      clock.advance(millis)
      observer.tick()
    }
    // One unit comes free every six minutes.
    for (let i = 0; i < 11; i++) limiter.check({ ip: '192.0.2.1' })
    pass(299_000)
    expect(value(AT_ZERO)).toBe(0)
    pass(2000)
    expect(value(AT_ZERO)).toBe(1)
    pass(70_000)
    expect(value(AT_ZERO)).toBe(0)
  })
})

describe('most decisions of a busy service', () => {
  it('are all counted, whichever rule they meet', () => {
    const { limiter, value } = serving()
    for (let i = 0; i < 3000; i++) {
      limiter.check({ user: `user ${i % 50}` })
      if (i % 3 === 0) limiter.check({ ip: '192.0.2.1' })
      if (i % 5 === 0) limiter.check({ user: 'both', ip: `192.0.2.${i % 200}` })
      if (i % 7 === 0) limiter.check({})
    }
    expect(value(NONE)).toBe(429)
    expect(value(ALLOWED) + value(BY_ADDRESS) + value(REFUSED)).toBe(3000 + 1000 + 600)
    expect(value(REFUSED)).toBeGreaterThanOrEqual(990)
    // All keys were seen: fifty and `both`.
    expect(value(DISTINCT)).toBe(51)
  })

  it('go on being counted after an hour without requests, when their rule was forgotten', () => {
    const { clock, observer, limiter, value } = serving()
    for (let i = 0; i < 500; i++) limiter.check({ user: 'ann' })
    for (let hour = 0; hour < 3; hour++) {
      clock.advance(3_600_000)
      observer.tick()
    }
    expect(value(DISTINCT)).toBe(0)
    for (let i = 0; i < 500; i++) limiter.check({ user: `user ${i}` })
    expect(value(ALLOWED)).toBe(1000)
    expect(value(DISTINCT)).toBeGreaterThan(480)
  })

  it('are compared with the limit on trial, if their rule has one', () => {
    const rules = parsePolicy({
      name: 'api',
      rules: [
        {
          name: 'per-user',
          by: ['user'],
          limit: { quota: 100_000, window: '1h' },
          candidate: { quota: 100, window: '1h' },
          overrides: [{ when: { plan: 'staff' }, limit: { quota: 50_000, window: '1h' } }],
        },
      ],
    })
    const { limiter, value } = serving(rules)
    // Those of staff have another limit, beside which nothing is on trial.
    for (let i = 0; i < 500; i++) {
      limiter.check({ user: 'boss', plan: 'staff' })
      limiter.check({ user: 'ann' })
    }
    const trial = (result: string) =>
      value(`sluice_candidate_decisions_total{policy="api",rule="per-user",result="${result}"}`)
    expect([trial('both-allow'), trial('newly-refused')]).toEqual([100, 400])
    expect(value(ALLOWED)).toBe(1000)
  })

  it('are all counted by their reason when nearly all are refused', () => {
    const rules = parsePolicy({
      name: 'api',
      rules: [
        {
          name: 'per-address',
          by: ['ip'],
          limit: { quota: 10, window: '1h' },
          lockout: { after: 20, within: '1h', for: '1h' },
        },
      ],
    })
    const { limiter, observer, value } = serving(rules)
    let lockedOut = 0
    for (let i = 0; i < 5000; i++)
      if (limiter.check({ ip: `192.0.2.${i % 100}` }).reason === 'locked-out') lockedOut += 1
    expect(lockedOut).toBeGreaterThan(1000)
    expect([value(BY_ADDRESS), value(REFUSED)]).toEqual([1000, 4000])
    // An estimate: its standard error is 1.6 %.
    const distinct = value('sluice_rule_distinct_keys{policy="api",rule="per-address"}')
    expect(Math.abs(distinct - 100)).toBeLessThan(5)
    const { entries } = observer.parts()[0]!.refused
    expect(entries).toHaveLength(50)
    for (const { count, error, variance } of entries) {
      const spread = spreadOf({ variance })
      expect(count + spread).toBeGreaterThanOrEqual(40)
      expect(count - error - spread).toBeLessThanOrEqual(40)
    }
  })

  it('show the first requests of each tick, without gaps', () => {
    const { clock, observer, limiter, recent } = serving()
    for (let tick = 0; tick < 3; tick++) {
      for (let i = 0; i < 1000; i++) limiter.check({ user: `${i}` })
      clock.advance(250)
      observer.tick()
    }
    const users = recent.list().map(({ attributes }) => attributes['user'])
    expect(users).toHaveLength(300)
    expect(users.slice(0, 100)).toEqual(Array.from({ length: 100 }, (_, i) => `${i}`))
  })

  it.each(['', '/a'])(
    'count at least one part in eight of very many keys that end in %j',
    (end) => {
      const { clock, observer, limiter, value } = serving()
      for (let i = 0; i < 26_000; i++) limiter.check({ user: `user ${i}` })
      clock.advance(250)
      observer.tick()
      const before = value(DISTINCT)
      expect(before).toBeGreaterThan(24_000)
      for (let i = 0; i < 26_000; i++) limiter.check({ user: `other ${i}${end}` })
      const added = value(DISTINCT) - before
      expect(added).toBeGreaterThan(26_000 / 8 - 1500)
      expect(added).toBeLessThan(26_000)
      // A quiet tick later all are seen again.
      for (let tick = 0; tick < 2; tick++) {
        clock.advance(250)
        observer.tick()
      }
      const busy = value(DISTINCT)
      for (let i = 0; i < 5000; i++) limiter.check({ user: `late ${i}` })
      expect(value(DISTINCT) - busy).toBeGreaterThan(4000)
    },
  )
})
