import { describe, expect, it } from 'vitest'
import { DecisionMetrics } from './decision-metrics.ts'
import { MetricRegistry } from './registry.ts'

const rulesOf = (...names: readonly string[]) =>
  names.map((name) => ({ name, by: ['user'], limit: '10/min' as const, shadow: name === 'tried' }))

const labelled = (text: string) =>
  new Set([...text.matchAll(/policy="([^"]*)",rule="([^"]*)"/g)].map(([, a, b]) => `${a}/${b}`))

describe('the metrics of rules', () => {
  it('are dropped with their rule, their policy or their domain', () => {
    const metrics = new MetricRegistry()
    const decisions = new DecisionMetrics(metrics)
    const api = { name: 'api', rules: rulesOf('a', 'b', 'tried') }
    const web = { name: 'web', rules: rulesOf('c') }
    const shop = { name: 'shop', rules: rulesOf('user') }
    for (const one of [api, web]) decisions.of(one)
    decisions.retain('policies', [api, web])
    decisions.of(shop)
    decisions.retain('domains', [shop])
    expect(labelled(metrics.text())).toEqual(
      new Set(['api/a', 'api/b', 'api/tried', 'api/', 'web/c', 'web/', 'shop/user', 'shop/']),
    )
    decisions.retain('policies', [{ name: 'api', rules: rulesOf('b') }])
    expect(labelled(metrics.text())).toEqual(new Set(['api/b', 'api/', 'shop/user', 'shop/']))
    expect(metrics.text()).not.toContain('policy="web"')
    decisions.retain('domains', [])
    expect(labelled(metrics.text())).toEqual(new Set(['api/b', 'api/']))
  })

  it('need few megabytes for nine thousand rules, and tell apart those that requests meet', () => {
    const metrics = new MetricRegistry()
    const names = Array.from({ length: 9000 }, (_, i) => `rule-${i}`)
    new DecisionMetrics(metrics).of({ name: 'api', rules: rulesOf(...names) })
    expect(metrics.text().length).toBeLessThan(3_000_000)
    expect(metrics.text()).toContain('{policy="api",rule="rule-3000",result="refused"} 0\n')
    // A gauge of several rules says nothing of any of them.
    expect(metrics.text()).not.toContain('sluice_rule_limit{policy="other"')
  })

  it('leave out limits on trial where none is, and histograms of rules that no request met', () => {
    const metrics = new MetricRegistry()
    new DecisionMetrics(metrics).of({ name: 'api', rules: rulesOf('a', 'tried') })
    const text = metrics.text()
    expect(text).not.toContain('sluice_candidate_decisions_total{policy="api",rule="a"')
    expect(text).toContain('sluice_candidate_decisions_total{policy="api",rule="tried"')
    expect(text).not.toContain('sluice_rule_remaining_ratio')
  })
})
