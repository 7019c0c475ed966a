import { describe, expect, it } from 'vitest'
import { parsePolicy } from 'sluice'
import { proxyFindings, ruleFindings, storeFindings } from './findings.ts'

describe('the doctor', () => {
  const latency = { count: 10, p50: 5, p99: 100 }
  const redis = { kind: 'redis', degraded: false, connection: 'ready', latency, memory: null }
  const server = {
    usedMemory: 90,
    maxMemory: 100,
    evictedKeys: 7,
    evictionPolicy: 'allkeys-lru',
    version: '7.0',
    clockOffset: 5000,
    scripts: true,
  }
  const levelsOf = (health: object, answers: boolean) =>
    storeFindings(health as never, answers).map(({ name, level }) => [name, level])

  it('finds what is wrong with a Redis', () => {
    expect(levelsOf({ ...redis, server }, true)).toEqual([
      ['store', 'ok'],
      ['latency', 'warning'],
      ['scripts', 'ok'],
      ['eviction policy', 'warning'],
      ['evictions', 'warning'],
      ['memory', 'warning'],
      ['clock', 'warning'],
    ])
  })

  it('says of a Redis that runs no scripts that it answers, and what it lacks', () => {
    const health = { ...redis, degraded: true, server: { ...server, scripts: false } }
    const [store, , scripts] = storeFindings(health as never, true)
    expect(store).toMatchObject({
      level: 'error',
      message: expect.stringContaining('redis answers, but'),
    })
    expect(scripts).toMatchObject({ level: 'error', message: expect.stringContaining('+evalsha') })
  })

  it('says nothing of how a Redis is that does not answer', () => {
    expect(levelsOf({ ...redis, degraded: true, connection: 'close', server }, false)).toEqual([
      ['store', 'error'],
      ['latency', 'warning'],
    ])
    expect(levelsOf({ ...redis, server: null }, false)).toEqual([
      ['store', 'ok'],
      ['latency', 'warning'],
      ['server', 'warning'],
    ])
  })

  it('finds rules that did not apply in the last hour', () => {
    const rule = (name: string) => ({ name, by: ['ip'], limit: '1/s' })
    const policy = parsePolicy({ name: 'api', rules: ['now', 'old', 'never'].map(rule) })
    const now = 1_800_000_000_000
    const part = (name: string, last: number) => ({ ...seen([]), rule: name, last })
    const parts = [part('now', now - 3_500_000), part('old', now - 3_700_000)]
    const [found, ...others] = ruleFindings([policy], parts, true, now)
    expect(found).toMatchObject({ name: 'rules', level: 'warning' })
    expect(found!.message).toContain('no request of the last hour met api/old, api/never;')
    expect(others).toEqual([])
  })

  it.each<[level: string, trusted: string[], addresses: string[]]>([
    ['warning', [], ['10.1.2.3', '192.168.0.1', 'fd00::/64', '172.31.0.9']],
    ['ok', [], ['10.1.2.3', '203.0.113.9']],
    ['ok', [], []],
    ['ok', ['10.0.0.0/8'], ['10.1.2.3']],
  ])('says %s of proxies that are trusted: %j, when it counts %j', (level, trusted, addresses) => {
    expect(proxyFindings(trusted, [seen(addresses)])).toMatchObject([{ name: 'proxies', level }])
  })
})

function seen(addresses: readonly string[]) {
  const entries = addresses.map((ip) => ({
    key: ip,
    count: 1,
    error: 0,
    variance: 0,
    about: { ip },
  }))
  return { policy: 'api', rule: 'r', by: ['ip'], last: 0, busiest: { entries, floor: 0 } }
}
