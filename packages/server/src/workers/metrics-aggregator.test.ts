import { fakeClock } from 'sluice/testing'
import { expect, it } from 'vitest'
import { MetricRegistry } from '../metrics/registry.ts'
import { MetricsAggregator } from './metrics-aggregator.ts'
import type { ToWorker } from './messages.ts'

/** A process that answers at once with what it has counted. */
function counting(clock = fakeClock(1_800_000_000_000)) {
  const own = new MetricRegistry()
  const metrics = new MetricRegistry()
  const counted = metrics.counter('a_total', 'Counted.').with()
  metrics.counter('b_total', 'Others.').with().add(7)
  metrics.histogram('took_seconds', 'Took.').with().observe(1)
  const aggregator = new MetricsAggregator(own, clock)
  let rounds = 0
  const send = (message: ToWorker): void => {
    if (message.type !== 'get-snapshot') return
    rounds += 1
    aggregator.receive(1, { round: message.round, snapshot: metrics.snapshot() })
  }
  const text = (names?: readonly string[]) =>
    aggregator.text([{ pid: 1, send: send as never }], names && new Set(names))
  return { clock, counted, text, rounds: () => rounds }
}

it('gives consoles the metrics that they name, collected once a second', async () => {
  const { clock, counted, text, rounds } = counting()
  const names = ['a_total', 'took_seconds_bucket']
  for (let worker = 0; worker < 4; worker++) {
    const read = await text(names)
    expect(read).toContain('a_total 0')
    expect(read).toContain('took_seconds_bucket')
    expect(read).not.toContain('b_total')
    clock.advance(200)
  }
  expect(rounds()).toBe(1)
  counted.add(3)
  clock.advance(200)
  expect(await text(names)).toContain('a_total 3')
  expect(rounds()).toBe(2)
})

it('collects anew for each scrape', async () => {
  const { counted, text, rounds } = counting()
  expect(await text()).toContain('b_total 7')
  counted.add(3)
  expect(await text()).toContain('a_total 3')
  expect(rounds()).toBe(2)
})

it('collects after a scrape at which no process was ready', async () => {
  const aggregator = new MetricsAggregator(new MetricRegistry())
  await aggregator.text([])
  let rounds = 0
  const send = (message: ToWorker): void => {
    if (message.type !== 'get-snapshot') return
    rounds += 1
    aggregator.receive(1, { round: message.round, snapshot: [] })
  }
  await aggregator.text([{ pid: 1, send: send as never }])
  expect(rounds).toBe(1)
})
