// One metric with its labels: each combination of their values is a series of its own.
import type { Members } from './hyper-log-log.ts'

/** The numbers behind one combination of labels. */
export interface Series {
  /** The lines of the exposition, given the metric's name and its labels as `{a="b"}` or ''. */
  lines(name: string, labels: string): readonly string[]
  /** The counted things, if several processes may have seen the same ones. */
  readonly members?: Members
}

/** How the values of several processes are combined into one. */
export type AcrossProcesses = 'sum' | 'max' | 'min' | 'union'

/** A metric at one moment, as plain data. */
export interface FamilySnapshot {
  readonly kind: string
  readonly name: string
  readonly help: string
  readonly acrossProcesses: AcrossProcesses
  /** The values by their name and labels in the exposition. */
  readonly values: ReadonlyMap<string, number>
  /** The counted things of each series, by the same strings, if several processes may have seen the same ones. */
  readonly members?: ReadonlyMap<string, Members> | undefined
}

/** Beyond this many series of one metric, further ones are counted together as `other`, and further gauges are left out. */
const MOST_SERIES = 10_000

/** A metric by name. Hold on to what `with` gives: looking it up costs more than adding to it. */
export class Family<S extends Series> {
  private readonly kind: string
  private readonly name: string
  private readonly help: string
  private readonly labels: readonly string[]
  private readonly make: () => S
  private readonly acrossProcesses: AcrossProcesses
  private readonly most: number
  private readonly series = new Map<string, S>()
  /** The label values of each series. */
  private readonly valuesOf = new Map<string, readonly string[]>()

  constructor(
    kind: string,
    name: string,
    help: string,
    labels: readonly string[],
    make: () => S,
    acrossProcesses: AcrossProcesses = 'sum',
    most: number = MOST_SERIES,
  ) {
    this.kind = kind
    this.name = name
    this.help = help
    this.labels = labels
    this.make = make
    this.acrossProcesses = acrossProcesses
    this.most = most
  }

  /** The series of these label values, in the order of the label names; made, at 0, when it is new. */
  with(...values: readonly string[]): S {
    const labels = this.labelText(values)
    const found = this.series.get(labels)
    if (found !== undefined) return found
    if (this.series.size >= this.most && values.some((value) => value !== 'other')) {
      // Gauges of several things are no gauge of all of them.
      if (this.kind === 'gauge') return this.make()
      // oxlint-disable-next-line sluice/no-spread-arguments -- one for each label name
      return this.with(...values.map(() => 'other'))
    }
    const made = this.make()
    this.series.set(labels, made)
    this.valuesOf.set(labels, values)
    return made
  }

  /** Drops the series for whose label values `isKept` returns false. What is added to them later is lost. */
  retain(isKept: (values: readonly string[]) => boolean): void {
    for (const [labels, values] of this.valuesOf) {
      if (isKept(values)) continue
      this.series.delete(labels)
      this.valuesOf.delete(labels)
    }
  }

  /** Whether a line of the exposition may have one of these names. */
  isAmong(names: ReadonlySet<string>): boolean {
    return isAmong({ name: this.name, kind: this.kind }, names)
  }

  /** Its part of the exposition; nothing when it has no series yet. */
  text(): string {
    const lines = this.lines()
    return lines.length === 0 ? '' : familyText(this.name, this.help, this.kind, lines)
  }

  /** All its values at this moment. */
  snapshot(): FamilySnapshot {
    const { kind, name, help, acrossProcesses } = this
    const values = this.lines().map((line): [string, number] => {
      const end = line.lastIndexOf(' ')
      return [line.slice(0, end), Number(line.slice(end + 1))]
    })
    const members = acrossProcesses === 'union' ? this.members() : undefined
    return { kind, name, help, acrossProcesses, values: new Map(values), members }
  }

  private members(): ReadonlyMap<string, Members> {
    const members = new Map<string, Members>()
    for (const [labels, series] of this.series)
      if (series.members !== undefined) members.set(`${this.name}${labels}`, series.members)
    return members
  }

  private lines(): readonly string[] {
    return [...this.series].flatMap(([labels, series]) => series.lines(this.name, labels))
  }

  private labelText(values: readonly string[]): string {
    if (this.labels.length === 0) return ''
    const pairs = this.labels.map((label, i) => `${label}="${escaped(values[i] ?? '')}"`)
    return `{${pairs.join(',')}}`
  }
}

/** A metric's part of the exposition. */
export function familyText(
  name: string,
  help: string,
  kind: string,
  lines: readonly string[],
): string {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`, ...lines, ''].join('\n')
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

/** Whether a line of a family's exposition may have one of these names. */
export function isAmong(
  { name, kind }: Pick<FamilySnapshot, 'name' | 'kind'>,
  names: ReadonlySet<string>,
): boolean {
  return names.has(name) || (kind === 'histogram' && names.has(`${name}_bucket`))
}
