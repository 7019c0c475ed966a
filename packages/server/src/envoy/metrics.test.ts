import { limit, type Decision, type DecisionRequest } from 'sluice'
import { describe, expect, it } from 'vitest'
import { MetricRegistry } from '../metrics/registry.ts'
import { descriptorMetrics } from './metrics.ts'

const ten = limit('10/h')
const outcome = (allowed: boolean, cost: number, remaining: number) => ({
  rule: 'user',
  limit: ten,
  allowed,
  cost,
  remaining,
})

/** A decision with this outcome, and its request. */
const decided = (one: ReturnType<typeof outcome>, { allowed } = one) =>
  [
    { allowed, outcomes: [one] } as unknown as Decision,
    { checks: [{ cost: one.cost }] } as unknown as DecisionRequest,
  ] as const

describe('the counters of a descriptor', () => {
  it.each([
    ['far from its limit', outcome(true, 3, 7), [3, 0, 0]],
    ['at 80 % of it', outcome(true, 1, 2), [1, 0, 0]],
    ['above 80 % of it', outcome(true, 1, 1), [1, 1, 0]],
    ['from below to above', outcome(true, 5, 0), [5, 2, 0]],
    ['over it', outcome(false, 4, 3), [4, 0, 4]],
    ['by a look', outcome(true, 0, 0), [0, 0, 0]],
  ])('count hits %s', (_, one, expected) => {
    const metrics = new MetricRegistry()
    const { countDescriptors } = descriptorMetrics(metrics, 0.8)
    const count = countDescriptors({ name: 'shop', rules: [{ name: 'user', by: [] }] })
    count(...decided(one))
    const text = metrics.text()
    const counted = ['hits', 'near_limit', 'over_limit'].map((name) =>
      Number(
        new RegExp(
          `^sluice_envoy_descriptor_${name}_total\\{domain="shop",descriptor="user"\\} (\\d+)$`,
          'm',
        ).exec(text)?.[1],
      ),
    )
    expect(counted).toEqual(expected)
  })

  it('count as near the limit by the ratio that is set', () => {
    const metrics = new MetricRegistry()
    const { countDescriptors: count } = descriptorMetrics(metrics, 0.5)
    count({ name: 'shop', rules: [{ name: 'user', by: [] }] })(...decided(outcome(true, 4, 3)))
    expect(metrics.text()).toContain(
      'sluice_envoy_descriptor_near_limit_total{domain="shop",descriptor="user"} 2\n',
    )
  })

  it('count no unit as near the limit that another descriptor kept from being taken', () => {
    const metrics = new MetricRegistry()
    const { countDescriptors } = descriptorMetrics(metrics, 0.8)
    const count = countDescriptors({ name: 'shop', rules: [{ name: 'user', by: [] }] })
    count(...decided(outcome(true, 1, 1), outcome(false, 1, 0)))
    const text = metrics.text()
    expect(text).toContain('_near_limit_total{domain="shop",descriptor="user"} 0\n')
    expect(text).toContain('_hits_total{domain="shop",descriptor="user"} 1\n')
  })

  it('are dropped when the files no longer have it', () => {
    const metrics = new MetricRegistry()
    const { countDescriptors, retain } = descriptorMetrics(metrics, 0.8)
    const shop = { name: 'shop', rules: ['user', 'path'].map((name) => ({ name, by: [] })) }
    countDescriptors(shop)
    countDescriptors({ name: 'old', rules: shop.rules })
    retain([{ name: 'shop', rules: [{ name: 'user', by: [] }] }])
    const named = [...metrics.text().matchAll(/hits_total\{(.*)\}/g)].map(([, labels]) => labels)
    expect(named).toEqual(['domain="shop",descriptor="user"'])
  })
})
