import { describe, expect, it } from 'vitest'
import type { Config, FailureConfig } from '../config/config.ts'
import { readConfig } from '../config/read-config.ts'
import { workerConfig } from './worker-config.ts'

function configOf(more: object): Config {
  const policies = [{ name: 'api', rules: [{ name: 'all', by: [], limit: '5/s' }] }]
  const { config, problems } = readConfig(JSON.stringify({ policies, ...more }), 'test')
  expect(problems).toEqual([])
  return config!
}

describe('the part of one worker', () => {
  it.each<[workers: number, FailureConfig, FailureConfig]>([
    [4, {}, { fallbackShare: 0.125 }],
    [4, { fallbackShare: 1 }, { fallbackShare: 0.25 }],
    [3, { replicas: 5 }, { replicas: 15 }],
    [1, { replicas: 5 }, { replicas: 5 }],
  ])('of what %i grant without their store: %o is %o', (workers, failure, expected) => {
    expect(workerConfig(configOf({ workers, failure })).failure).toEqual(expected)
  })

  it('never adds up to more units than the service may grant', () => {
    for (const workers of [2, 3, 4, 7]) {
      const { fallbackShare } = workerConfig(configOf({ workers })).failure
      for (const quota of [1, 5, 10, 99, 1000]) {
        const each = Math.floor(quota * fallbackShare! + 1e-6)
        expect(each * workers).toBeLessThanOrEqual(quota * 0.5)
      }
    }
  })

  it('of the connections, rounded up', () => {
    const config = configOf({ workers: 3, listeners: { http: { maxConnections: 100 } } })
    expect(workerConfig(config).listeners.http.maxConnections).toBe(34)
  })
})
