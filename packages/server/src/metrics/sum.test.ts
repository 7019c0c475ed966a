import { describe, expect, it } from 'vitest'
import { hash32 } from '../observe/keys.ts'
import { DISTINCT_ERROR, HyperLogLog } from './hyper-log-log.ts'
import { MetricRegistry } from './registry.ts'
import { SummedMetrics } from './sum.ts'

/** A process that has counted so many, holds so many and is so slow. */
function figures({ counted = 0, held = 0, slowest = 0, since = 1 } = {}) {
  const metrics = new MetricRegistry()
  metrics.counter('a_total', 'Counted.', ['of']).with('x y').add(counted)
  metrics.gauge('held', 'Held.').with().set(held)
  metrics.gauge('slowest', 'The slowest.', [], 'max').with().set(slowest)
  metrics.gauge('since', 'The first.', [], 'min').with().set(since)
  metrics.histogram('took_seconds', 'Took.').with().observe(counted)
  metrics.counter('none_total', 'Without a series.', ['of'])
  return metrics.snapshot()
}

const linesOf = (text: string) => text.split('\n').filter((line) => !line.startsWith('#'))

describe('metrics of several processes', () => {
  it('are added up, or the largest, or the least', () => {
    const sum = new SummedMetrics()
    sum.keep(1, figures({ counted: 2, held: 3, slowest: 5, since: 9 }))
    sum.keep(2, figures({ counted: 40, held: 4, slowest: 1, since: 8 }))
    const text = sum.text([])
    expect(linesOf(text)).toEqual(
      expect.arrayContaining([
        'a_total{of="x y"} 42',
        'held 7',
        'slowest 5',
        'since 8',
        'took_seconds_bucket{le="0.0025"} 1',
        'took_seconds_bucket{le="0.05"} 2',
        'took_seconds_sum 0.042',
        'took_seconds_count 2',
      ]),
    )
    expect(text.match(/# TYPE a_total counter/g)).toHaveLength(1)
    expect(text).not.toContain('none_total')
  })

  it('that are but one are what it would say itself', () => {
    const metrics = new MetricRegistry()
    metrics.counter('a_total', 'Counted.', ['of']).with('"\\\n').add(0.1)
    metrics.histogram('took_seconds', 'Took.', ['of']).with('x').observe(3)
    expect(new SummedMetrics().text(metrics.snapshot())).toBe(metrics.text())
  })

  it('keep the counters of those that ended, and drop their gauges', () => {
    const sum = new SummedMetrics()
    sum.keep(1, figures({ counted: 2, held: 3, slowest: 7 }))
    sum.keep(2, figures({ counted: 3, held: 1 }))
    sum.end(1)
    sum.end(1)
    sum.keep(3, figures({ counted: 1 }))
    sum.end(3)
    expect(linesOf(sum.text([]))).toEqual(
      expect.arrayContaining(['a_total{of="x y"} 6', 'held 1', 'slowest 0']),
    )
  })

  it('count what a process says later in the place of what it said before', () => {
    const sum = new SummedMetrics()
    sum.keep(1, figures({ counted: 2 }))
    sum.keep(1, figures({ counted: 5 }))
    expect(linesOf(sum.text(figures({ counted: 1 })))).toContain('a_total{of="x y"} 6')
  })

  it('count what several have seen alike once', () => {
    const sum = new SummedMetrics()
    const seen = (keys: readonly number[], few: readonly number[]) => {
      const metrics = new MetricRegistry()
      const sketch = new HyperLogLog()
      for (const key of keys) sketch.add(hash32(`key ${key}`))
      metrics
        .unionGauge('keys', 'Keys.', ['of'])
        .with('x')
        .readFrom(() => sketch.registers)
      metrics
        .unionGauge('few', 'Few.', [])
        .with()
        .readFrom(() => few)
      return metrics.snapshot()
    }
    const from = (start: number) => Array.from({ length: 100 }, (_, i) => start + i)
    sum.keep(1, seen(from(0), [1, 2, 3]))
    sum.keep(2, seen(from(50), [3, 4]))
    const own = seen(from(120), [])
    const [keys, few] = linesOf(sum.text(own))
    expect(few).toBe('few 4')
    const [, count] = /^keys\{of="x"\} (\d+)$/.exec(keys!)!
    expect(Math.abs(Number(count) - 220)).toBeLessThan(220 * 5 * DISTINCT_ERROR)
    sum.end(2)
    expect(linesOf(sum.text([]))).toContain('few 3')
  })
})
