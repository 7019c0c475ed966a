// What the stores and the breakers in front of them are doing.
import type { MemoryStore, ResilienceEvent } from 'sluice'
import type { Log } from '../log/log.ts'
import type { Family } from './family.ts'
import type { Counter, Gauge, MetricRegistry } from './registry.ts'

const STATES = ['closed', 'open', 'half-open'] as const

/** Listens to what limiters say of their store: in metrics, in the log, and in one word for `/readyz`. */
export class StoreMetrics {
  private readonly log: Log
  private readonly states: Family<Gauge>
  private readonly failures: Family<Counter>
  private readonly lateAnswers: Family<Counter>
  /** The state of each policy's breaker. */
  readonly breakers: Map<string, (typeof STATES)[number]> = new Map()

  private readonly isConnected: () => boolean

  constructor(metrics: MetricRegistry, log: Log, isConnected: () => boolean = () => true) {
    this.log = log
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
    this.lateAnswers = metrics.counter(
      'sluice_store_late_answers_total',
      'Answers of the store that came after the request was answered without it.',
      ['policy'],
    )
  }

  /** Whether there is no connection, or any breaker is not closed: some decisions are made without the store. */
  get isDegraded(): boolean {
    if (!this.isConnected()) return true
    for (const state of this.breakers.values()) if (state !== 'closed') return true
    return false
  }

  /** What a policy's limiter is to tell its events to. Its breaker begins closed. */
  listenerFor(policy: string): (event: ResilienceEvent) => void {
    this.enter(policy, 'closed')
    return (event) => this.hear(policy, event)
  }

  /** Notes a call that failed with nobody to stand in. */
  failed(code: string): void {
    this.failures.with(code).add()
  }

  private hear(policy: string, event: ResilienceEvent): void {
    switch (event.type) {
      case 'opened':
        this.enter(policy, 'open')
        this.log.warn(
          { policy, cause: event.cause, error: String(event.error) },
          'the store fails; decisions are made without it',
        )
        break
      case 'half-open':
        this.enter(policy, 'half-open')
        break
      case 'closed':
        this.enter(policy, 'closed')
        this.log.info({ policy, openFor: event.openFor }, 'the store answers again')
        break
      case 'fallback':
        this.failed(event.cause)
        break
      case 'late-answer':
        this.lateAnswers.with(policy).add()
        break
    }
  }

  private enter(policy: string, state: (typeof STATES)[number]): void {
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
