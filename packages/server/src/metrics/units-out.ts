// Units that are reserved, in slots or leased, and not yet spent or given back. The sum over all processes is that of the fleet.
import { systemClock, type Clock, type Millis } from 'sluice'
import type { LeaseStats } from 'sluice/coordination'
import type { MetricRegistry } from './registry.ts'

/** Ends are kept by the second. */
const STEP: Millis = 1000

/** Units with an end. A process that settles what another one reserved counts below 0, so that the sum is right. */
export class EndingUnits {
  private readonly byEnd = new Map<number, number>()
  private readonly clock: Clock

  constructor(clock: Clock = systemClock) {
    this.clock = clock
  }

  /** Adds units until their end, or subtracts them; nothing if the end has passed. */
  add(units: number, endsAt: Millis): void {
    if (endsAt <= this.clock() || units === 0) return
    const step = Math.ceil(endsAt / STEP)
    const sum = (this.byEnd.get(step) ?? 0) + units
    if (sum === 0) this.byEnd.delete(step)
    else this.byEnd.set(step, sum)
  }

  /** The units whose end has not come. */
  get now(): number {
    const step = this.clock() / STEP
    let sum = 0
    for (const [end, units] of this.byEnd) {
      if (end <= step) this.byEnd.delete(end)
      else sum += units
    }
    return sum
  }
}

/** The units that reservations and slots hold. */
export class HeldUnits {
  readonly holds: EndingUnits
  readonly slots: EndingUnits

  constructor(metrics: MetricRegistry, clock: Clock = systemClock, leases?: LeaseStats) {
    this.holds = new EndingUnits(clock)
    this.slots = new EndingUnits(clock)
    const out = metrics.gauge(
      'sluice_units_out',
      'Units that are leased, reserved or in slots, and neither spent nor back.',
      ['kind'],
    )
    out.with('hold').readFrom(() => this.holds.now)
    out.with('slot').readFrom(() => this.slots.now)
    out.with('lease').readFrom(() => leases?.unitsOut ?? 0)
  }
}

/** What this process leases, in metrics. */
export function addLeaseMetrics(metrics: MetricRegistry, leases: LeaseStats): void {
  const counter = (name: string, help: string, value: () => number): void =>
    metrics.counter(name, help).with().readFrom(value)
  metrics
    .gauge('sluice_leased_counts', 'Counts of which this process has units.')
    .with()
    .readFrom(() => leases.counts)
  counter(
    'sluice_lease_grants_total',
    'Times that the store has leased units.',
    () => leases.grants,
  )
  counter('sluice_leased_units_total', 'Units that were leased.', () => leases.granted)
  counter('sluice_lease_spent_units_total', 'Leased units that were spent.', () => leases.spent)
  counter(
    'sluice_lease_returned_units_total',
    'Leased units that went back unspent.',
    () => leases.returned,
  )
  counter(
    'sluice_lease_expired_units_total',
    'Leased units that were neither spent nor given back before their end.',
    () => leases.expired,
  )
  counter('sluice_leases_lost_total', 'Leases that the store had forgotten.', () => leases.lost)
  const switches = metrics.counter(
    'sluice_coordination_switches_total',
    'Times that a count changed to leases, to counting in this process, or to a round trip per request.',
    ['to'],
  )
  for (const to of ['leasing', 'synced', 'strict'] as const)
    switches.with(to).readFrom(() => leases.switches[to])
  addSyncMetrics(metrics, leases)
}

/** What this process counts of synced rules, and by how much the fleet may exceed their limits. */
function addSyncMetrics(metrics: MetricRegistry, leases: LeaseStats): void {
  const counter = (name: string, help: string, value: () => number): void =>
    metrics.counter(name, help).with().readFrom(value)
  const gauge = (name: string, help: string, value: () => number): void =>
    metrics.gauge(name, help, [], 'max').with().readFrom(value)
  counter(
    'sluice_synced_flushes_total',
    'Times that synced counts were sent to the store.',
    () => leases.flushes,
  )
  counter(
    'sluice_synced_flushes_failed_total',
    'Times that synced counts could not be sent, and were kept.',
    () => leases.failedFlushes,
  )
  counter(
    'sluice_synced_overshoot_units_total',
    'Units of synced rules that the store found to be beyond a limit.',
    () => leases.overshoot,
  )
  gauge(
    'sluice_synced_overshoot_units_max',
    'The most such units of one count in one flush.',
    () => leases.maxOvershoot,
  )
  gauge(
    'sluice_synced_interval_units_max',
    'The most units that this process took of one synced count in one interval. The fleet exceeds a limit by at most N - 1 times as many.',
    () => leases.maxPerInterval,
  )
}
