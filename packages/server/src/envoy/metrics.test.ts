import { limit, type Decision } from 'sluice'
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
    const count = descriptorMetrics(metrics)({ name: 'shop', rules: [{ name: 'user', by: [] }] })
    count({ outcomes: [one] } as unknown as Decision)
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
})
