// What the stores and the breakers in front of them are doing.
import { helpAt, type MemoryStore, type ResilienceEvent } from 'sluice'
import type { Log } from '../log/log.ts'
import { RepeatedLog } from '../log/repeated-log.ts'
import type { Counter, Gauge, Histogram } from './series.ts'
import type { Family } from './family.ts'
import type { MetricRegistry } from './registry.ts'

const STATES = ['closed', 'open', 'half-open'] as const
type BreakerState = (typeof STATES)[number]

/** Reports events of the store: in metrics, in the log, and as one word for `/readyz`. */
export class StoreMetrics {
  private readonly log: Log
  private readonly warnings: RepeatedLog
  private readonly states: Family<Gauge>
  private readonly failures: Family<Counter>
  private readonly failuresByCause = new Map<string, Counter>()
  private readonly lateAnswers: Family<Counter>
  /** How long decisions took that the store made, in milliseconds. */
  readonly duration: Histogram
  /** The state of the breaker, for each policy that decides behind it. */
  readonly breakers: Map<string, BreakerState> = new Map()

  private state: BreakerState = 'closed'
  private readonly isConnected: () => boolean

  constructor(metrics: MetricRegistry, log: Log, isConnected: () => boolean = () => true) {
    this.log = log
    this.warnings = new RepeatedLog(log)
    this.isConnected = isConnected
    this.states = metrics.gauge(
      'sluice_breaker_state',
      'The state of the breaker in front of the store: 1 for the one it is in.',
      ['policy', 'state'],
    )
    this.failures = metrics.counter(
      'sluice_store_errors_total',
      'Calls that the store did not answer, by error code; with an open breaker those not made.',
      ['code'],
    )
    this.duration = metrics
      .histogram(
        'sluice_store_duration_seconds',
        'How long decisions took that the remote store made.',
      )
      .with()
    this.lateAnswers = metrics.counter(
      'sluice_store_late_answers_total',
      'Answers of the store that came after the request was answered without it.',
    )
  }

  /** How long decisions of the store took since the start: how many, and two quantiles in milliseconds. */
  get latency(): { readonly count: number; readonly p50: number; readonly p99: number } {
    const { duration } = this
    return { count: duration.count, p50: duration.quantile(0.5), p99: duration.quantile(0.99) }
  }

  /** Whether there is no connection, or any breaker is not closed: some decisions are made without the store. */
  get isDegraded(): boolean {
    if (!this.isConnected()) return true
    return this.state !== 'closed'
  }

  /** Shows the breaker's state under one more name. */
  addPolicy(policy: string): void {
    if (!this.breakers.has(policy)) this.enter(policy, this.state)
  }

  /** Records an event of the guarded store. */
  readonly onEvent = (event: ResilienceEvent): void => {
    switch (event.type) {
      case 'opened':
        this.enterAll('open')
        this.log.warn(
          { cause: event.cause, error: String(event.error) },
          'the store fails; decisions are made without it',
        )
        break
      case 'half-open':
        this.enterAll('half-open')
        break
      case 'closed':
        this.enterAll('closed')
        this.log.info({ openFor: event.openFor }, 'the store answers again')
        break
      case 'fallback':
        this.failureOf(event.cause).add()
        if (event.cause === 'store-learning') this.warnOfLearning()
        break
      case 'late-answer':
        this.lateAnswers.with().add()
        break
    }
  }

  /** The store works, so that no breaker opens and says why leased rules are degraded. */
  private warnOfLearning(): void {
    this.warnings.warn(
      'store-learning',
      { help: helpAt('reference/errors', 'store-learning') },
      'the store leases nothing for one lease life, since it is new or may have lost its record of leases; requests of leased rules are decided without it',
    )
  }

  /** Every decision is a fallback during an outage: the labels of its counter are written once. */
  private failureOf(cause: string): Counter {
    let counter = this.failuresByCause.get(cause)
    if (counter === undefined) {
      counter = this.failures.with(cause)
      this.failuresByCause.set(cause, counter)
    }
    return counter
  }

  private enterAll(state: BreakerState): void {
    this.state = state
    for (const policy of this.breakers.keys()) this.enter(policy, state)
  }

  private enter(policy: string, state: BreakerState): void {
    for (const each of STATES) this.states.with(policy, each).set(each === state ? 1 : 0)
    this.breakers.set(policy, state)
  }
}

/** What the store in this process holds. */
export function addMemoryMetrics(metrics: MetricRegistry, memory: MemoryStore): void {
  metrics
    .gauge('sluice_store_keys', 'Keys in the memory store.')
    .with()
    .readFrom(() => memory.stats().keys)
  metrics
    .counter('sluice_store_evicted_keys_total', 'Keys forgotten before their time, to make room.')
    .with()
    .readFrom(() => memory.stats().evicted)
  metrics
    .counter('sluice_store_overflows_total', "Takes that shared their rule's overflow count.")
    .with()
    .readFrom(() => memory.stats().overflowed)
}
