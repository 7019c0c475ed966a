// One metric with its labels: each combination of their values is a series of its own.

/** The numbers behind one combination of labels. */
export interface Series {
  /** The lines of the exposition, given the metric's name and its labels as `{a="b"}` or ''. */
  lines(name: string, labels: string): readonly string[]
}

/** What the values of several processes make together. */
export type Across = 'sum' | 'max' | 'min'

/** A metric at one moment, as plain data. */
export interface FamilySnapshot {
  readonly kind: string
  readonly name: string
  readonly help: string
  readonly across: Across
  /** The values by what stands before them in the exposition. */
  readonly values: ReadonlyMap<string, number>
}

/** Beyond this many series of one metric, further ones are counted together as `other`. */
const MOST_SERIES = 10_000

/** A metric by name. Hold on to what `with` gives: looking it up costs more than adding to it. */
export class Family<S extends Series> {
  private readonly kind: string
  private readonly name: string
  private readonly help: string
  private readonly labels: readonly string[]
  private readonly make: () => S
  private readonly across: Across
  private readonly series = new Map<string, S>()

  constructor(
    kind: string,
    name: string,
    help: string,
    labels: readonly string[],
    make: () => S,
    across: Across = 'sum',
  ) {
    this.kind = kind
    this.name = name
    this.help = help
    this.labels = labels
    this.make = make
    this.across = across
  }

  /** The series of these label values, in the order of the label names; made, at 0, when it is new. */
  with(...values: readonly string[]): S {
    const labels = this.labelText(values)
    const found = this.series.get(labels)
    if (found !== undefined) return found
    if (this.series.size >= MOST_SERIES && values.some((value) => value !== 'other'))
      // oxlint-disable-next-line sluice/no-spread-arguments -- one for each label name
      return this.with(...values.map(() => 'other'))
    const made = this.make()
    this.series.set(labels, made)
    return made
  }

  /** Its part of the exposition; nothing when it has no series yet. */
  text(): string {
    return this.series.size === 0 ? '' : familyText(this.name, this.help, this.kind, this.lines())
  }

  /** All its values at this moment. */
  snapshot(): FamilySnapshot {
    const { kind, name, help, across } = this
    const values = this.lines().map((line): [string, number] => {
      const end = line.lastIndexOf(' ')
      return [line.slice(0, end), Number(line.slice(end + 1))]
    })
    return { kind, name, help, across, values: new Map(values) }
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
