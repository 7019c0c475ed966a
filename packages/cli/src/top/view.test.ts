import { describe, expect, it } from 'vitest'
import { readExposition } from './exposition.ts'
import { readMetrics, type Reading } from './reading.ts'
import { viewOf } from './view.ts'

const none = { offenders: [], problem: null }

/** The metrics of a service with so many decisions. */
function metrics(allowed: number, refused: number, buckets: readonly number[] = [0, 0, 0]): string {
  const edges = ['0.001', '0.01', '+Inf']
  return [
    '# HELP sluice_build_info x',
    'sluice_build_info{version="1.2.3"} 1',
    'sluice_ready 1',
    `sluice_decisions_total{policy="api",rule="a",result="allowed"} ${allowed}`,
    `sluice_decisions_total{policy="api",rule="a",result="refused"} ${refused}`,
    'sluice_degraded_decisions_total{policy="api"} 0',
    'sluice_breaker_state{policy="api",state="closed"} 0',
    'sluice_breaker_state{policy="api",state="open"} 1',
    ...edges.map(
      (edge, i) =>
        `sluice_decision_duration_seconds_bucket{policy="api",le="${edge}"} ${buckets[i]}`,
    ),
    'sluice_blocks 3',
    'process_resident_memory_bytes 5e7',
  ].join('\n')
}

const reading = (at: number, ...figures: Parameters<typeof metrics>): Reading =>
  readMetrics(metrics(...figures), at)!

describe('a reading', () => {
  it('has the totals, and null for what is not there', () => {
    expect(reading(0, 10, 2)).toMatchObject({
      version: '1.2.3',
      isReady: true,
      rules: [{ policy: 'api', rule: 'a', allowed: 10, refused: 2, unavailable: 0, blocked: 0 }],
      breakers: [['api', 'open']],
      keys: null,
      blocks: 3,
      overrides: null,
    })
  })

  it.each(['', 'hello', '<html>', 'up 1\nprocess_cpu_seconds_total 5'])(
    'is undefined for the text of another server: %j',
    (text) => expect(readMetrics(text, 0)).toBeUndefined(),
  )

  it('reads labels as they were written', () => {
    const [sample] = readExposition(String.raw`x{a="q\"\\\n}",b="{,="} 1.5`).get('x')!
    expect({ ...sample!.labels }).toEqual({ a: 'q"\\\n}', b: '{,=' })
    expect(sample!.value).toBe(1.5)
    expect(readExposition('x{__proto__="y"} 1').get('x')).toHaveLength(1)
  })
})

describe('a view', () => {
  it('has rates per second', () => {
    const view = viewOf('u', reading(0, 100, 10), reading(2000, 160, 50), none)
    expect(view).toMatchObject({ decisions: 50, refused: 20, status: 'serving', blocks: 3 })
    expect(view.rules).toMatchObject([{ allowed: 30, refused: 20 }])
  })

  it('a service that has begun again counts from 0', () => {
    const view = viewOf('u', reading(0, 100, 10, [5, 5, 5]), reading(1000, 7, 3, [1, 1, 1]), none)
    expect(view).toMatchObject({ decisions: 10, refused: 3 })
    expect(view.p50).toBeCloseTo(0.5)
  })

  it('has no quantiles when nothing was decided', () => {
    expect(viewOf('u', reading(0, 0, 0), reading(1000, 0, 0), none).p50).toBeNull()
  })

  it.each<[readonly number[], number, number]>([
    [[100, 100, 100], 0.5, 0.99],
    [[50, 100, 100], 1, 9.82],
    [[0, 0, 100], 10, 10],
  ])('quantiles of %j are %s and %s ms', (buckets, p50, p99) => {
    const view = viewOf('u', reading(0, 0, 0), reading(1000, 0, 0, buckets), none)
    expect(view.p50).toBeCloseTo(p50)
    expect(view.p99).toBeCloseTo(p99)
  })
})
