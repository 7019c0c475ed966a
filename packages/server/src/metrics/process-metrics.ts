// Metrics of the process itself, under the names that Prometheus' own libraries use.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Health } from '../health/health.ts'
import { standardErrorSink } from '../log/line-sink.ts'
import { version } from '../version.ts'
import type { AcrossProcesses } from './family.ts'
import type { MetricRegistry } from './registry.ts'

/** Adds memory, processor time, dropped log lines, the event loop's delay, the version and readiness. */
export function addProcessMetrics(metrics: MetricRegistry, health: Health): void {
  const gauge = (
    name: string,
    help: string,
    read: () => number,
    acrossProcesses?: AcrossProcesses,
  ): void => metrics.gauge(name, help, [], acrossProcesses).with().readFrom(read)

  metrics
    .gauge('sluice_build_info', 'The version that runs.', ['version'], 'max')
    .with(version)
    .set(1)
  gauge('sluice_ready', 'Whether the service is ready for traffic; of workers, how many are.', () =>
    health.state === 'serving' ? 1 : 0,
  )
  const started = Date.now() / 1000 - process.uptime()
  gauge('process_start_time_seconds', 'When the process started, since 1970.', () => started, 'min')
  gauge('process_resident_memory_bytes', 'Memory of the process.', () => process.memoryUsage.rss())
  const cpu = metrics.counter('process_cpu_seconds_total', 'Processor time, user and system.')
  cpu.with().readFrom(() => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  metrics
    .counter(
      'sluice_log_lines_dropped_total',
      'Log lines dropped because their reader did not keep up.',
    )
    .with()
    .readFrom(() => standardErrorSink().dropped)
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  gauge(
    'sluice_event_loop_delay_seconds',
    'The longest wait for the event loop since the last look.',
    () => {
      const longest = delay.max / 1e9
      delay.reset()
      return longest
    },
    'max',
  )
}
