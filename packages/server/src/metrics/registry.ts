// The service's own metrics and their text form for Prometheus; one addition costs a few nanoseconds.
import { Family, type AcrossProcesses, type FamilySnapshot, type Series } from './family.ts'
import { Counter, Gauge, Histogram, UnionGauge, type Scale } from './series.ts'

/** All metrics of one service, in the order in which they were made. */
export class MetricRegistry {
  private readonly families: Family<Series>[] = []

  /** A counter; the name ends in `_total`. */
  counter(
    name: string,
    help: string,
    labels: readonly string[] = [],
    most?: number,
  ): Family<Counter> {
    return this.family(new Family('counter', name, help, labels, () => new Counter(), 'sum', most))
  }

  /** A gauge; `across` says what the values of several processes make together. */
  gauge(
    name: string,
    help: string,
    labels: readonly string[] = [],
    acrossProcesses: AcrossProcesses = 'sum',
    most?: number,
  ): Family<Gauge> {
    return this.family(
      new Family('gauge', name, help, labels, () => new Gauge(), acrossProcesses, most),
    )
  }

  /** A gauge that counts different things; those of several processes are united. */
  unionGauge(
    name: string,
    help: string,
    labels: readonly string[],
    most?: number,
  ): Family<UnionGauge> {
    return this.family(
      new Family('gauge', name, help, labels, () => new UnionGauge(), 'union', most),
    )
  }

  /** A histogram of seconds, whose name ends in `_seconds`, or by a scale of its own. */
  histogram(
    name: string,
    help: string,
    labels: readonly string[] = [],
    scale?: Scale,
    most?: number,
  ): Family<Histogram> {
    return this.family(
      new Family('histogram', name, help, labels, () => new Histogram(scale), 'sum', most),
    )
  }

  /** The exposition in Prometheus' text format, version 0.0.4; with names, of the metrics that have one of them. */
  text(names?: ReadonlySet<string>): string {
    const { families } = this
    const wanted = names === undefined ? families : families.filter((one) => one.isAmong(names))
    return wanted.map((family) => family.text()).join('')
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
