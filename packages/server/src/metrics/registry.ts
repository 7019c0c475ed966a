// The service's own metrics and their text form for Prometheus; one addition costs a few nanoseconds.
import { Family, type Across, type FamilySnapshot, type Series } from './family.ts'
import { Histogram, type Scale } from './histogram.ts'

/** Something that only grows. */
export class Counter implements Series {
  value = 0

  add(units = 1): void {
    this.value += units
  }

  /** Counted elsewhere: read at each scrape. */
  readFrom(value: () => number): void {
    Object.defineProperty(this, 'value', { get: value })
  }

  lines(name: string, labels: string): readonly string[] {
    return [`${name}${labels} ${this.value}`]
  }
}

/** A value that goes up and down: set, or read at each scrape. */
export class Gauge implements Series {
  private value: () => number = () => 0

  set(value: number): void {
    this.value = () => value
  }

  readFrom(value: () => number): void {
    this.value = value
  }

  lines(name: string, labels: string): readonly string[] {
    return [`${name}${labels} ${this.value()}`]
  }
}

/** All metrics of one service, in the order in which they were made. */
export class MetricRegistry {
  private readonly families: Family<Series>[] = []

  /** A counter; the name ends in `_total`. */
  counter(name: string, help: string, labels: readonly string[] = []): Family<Counter> {
    return this.family(new Family('counter', name, help, labels, () => new Counter()))
  }

  /** A gauge; `across` says what the values of several processes make together. */
  gauge(
    name: string,
    help: string,
    labels: readonly string[] = [],
    across: Across = 'sum',
  ): Family<Gauge> {
    return this.family(new Family('gauge', name, help, labels, () => new Gauge(), across))
  }

  /** A histogram of seconds, whose name ends in `_seconds`, or by a scale of its own. */
  histogram(
    name: string,
    help: string,
    labels: readonly string[] = [],
    scale?: Scale,
  ): Family<Histogram> {
    return this.family(new Family('histogram', name, help, labels, () => new Histogram(scale)))
  }

  /** The exposition in Prometheus' text format, version 0.0.4. */
  text(): string {
    return this.families.map((family) => family.text()).join('')
  }

  /** All metrics as plain data, to be added up over several processes. */
  snapshot(): readonly FamilySnapshot[] {
    return this.families.map((family) => family.snapshot())
  }

  private family<S extends Series>(family: Family<S>): Family<S> {
    this.families.push(family)
    return family
  }
}
