// Units that are out: reserved, in slots or leased, and not yet spent or back. Summed over all processes it is the fleet's.
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
}
