// One metric with its labels: each combination of their values is a series of its own.

/** The figures behind one combination of labels. */
export interface Series {
  /** The lines of the exposition, given the metric's name and its labels as `{a="b"}` or ''. */
  lines(name: string, labels: string): readonly string[]
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
  private readonly series = new Map<string, S>()

  constructor(kind: string, name: string, help: string, labels: readonly string[], make: () => S) {
    this.kind = kind
    this.name = name
    this.help = help
    this.labels = labels
    this.make = make
  }

  /** The series of these label values, in the order of the label names; made, at 0, when it is new. */
  with(...values: readonly string[]): S {
    const labels = this.labelText(values)
    const found = this.series.get(labels)
    if (found !== undefined) return found
    if (this.series.size >= MOST_SERIES && values.some((value) => value !== 'other'))
      return this.with(...values.map(() => 'other'))
    const made = this.make()
    this.series.set(labels, made)
    return made
  }

  /** Its part of the exposition; nothing when it has no series yet. */
  text(): string {
    if (this.series.size === 0) return ''
    const lines = [`# HELP ${this.name} ${this.help}`, `# TYPE ${this.name} ${this.kind}`]
    for (const [labels, series] of this.series) lines.push(...series.lines(this.name, labels))
    return `${lines.join('\n')}\n`
  }

  private labelText(values: readonly string[]): string {
    if (this.labels.length === 0) return ''
    const pairs = this.labels.map((label, i) => `${label}="${escaped(values[i] ?? '')}"`)
    return `{${pairs.join(',')}}`
  }
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
