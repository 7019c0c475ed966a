import { describe, expect, it } from 'vitest'
import { storeFindings } from './findings.ts'

describe('the doctor', () => {
  it('finds what is wrong with a Redis', () => {
    const server = {
      usedMemory: 90,
      maxMemory: 100,
      evictedKeys: 7,
      evictionPolicy: 'allkeys-lru',
      version: '7.0',
      clockOffset: 5000,
    }
    const latency = { count: 10, p50: 5, p99: 100 }
    const health = { kind: 'redis', degraded: true, connection: 'close', latency, memory: null }
    const levels = storeFindings({ ...health, server } as never).map(({ name, level }) => [
      name,
      level,
    ])
    expect(levels).toEqual([
      ['store', 'error'],
      ['latency', 'warning'],
      ['scripts', 'ok'],
      ['eviction policy', 'warning'],
      ['evictions', 'warning'],
      ['memory', 'warning'],
      ['clock', 'warning'],
    ])
  })
})
