import { describe, expect, it } from 'vitest'
import type { Config, FailureConfig } from '../config/config.ts'
import { readConfig } from '../config/read-config.ts'
import { workerConfig } from './worker-config.ts'

function configOf(more: object): Config {
  const policies = [{ name: 'api', rules: [{ name: 'all', by: [], limit: '5/s' }] }]
  const { config, problems } = readConfig(
    JSON.stringify({ policies, store: 'redis://localhost', ...more }),
    'test',
  )
  expect(problems).toEqual([])
  return config!
}

describe('the share of one worker', () => {
  it.each<[workers: number, FailureConfig, FailureConfig]>([
    [4, {}, { fallbackShare: 0.125 }],
    [4, { fallbackShare: 1 }, { fallbackShare: 0.25 }],
    [3, { replicas: 5 }, { replicas: 15 }],
    [1, { replicas: 5 }, { replicas: 5 }],
  ])('of what %i workers grant without their store, %o, is %o', (workers, failure, expected) => {
    expect(workerConfig(configOf({ workers, failure })).failure).toEqual(expected)
  })

  it('adds up to what the service may grant without its store, but at least one unit for each worker', () => {
    for (const workers of [2, 3, 4, 7]) {
      const { fallbackShare } = workerConfig(configOf({ workers })).failure
      for (const quota of [1, 5, 10, 99, 1000]) {
        const each = Math.max(1, Math.floor(quota * fallbackShare! + 1e-6))
        expect(each * workers).toBeLessThanOrEqual(Math.max(workers, quota * 0.5))
      }
    }
  })

  it('of the connections is rounded up', () => {
    const config = configOf({ workers: 3, listeners: { http: { maxConnections: 100 } } })
    expect(workerConfig(config).listeners.http.maxConnections).toBe(34)
  })
})
