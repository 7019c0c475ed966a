// Reads the part of Prometheus' text format that the service writes.

/** One line: the labels by name, and the value. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** The samples of every metric, by its name. Lines that are not understood are left out. */
export function readExposition(text: string): ReadonlyMap<string, readonly Sample[]> {
  const metrics = new Map<string, Sample[]>()
  for (const line of text.split('\n')) {
    const match = /^([a-z_:][\w:]*)(?:\{(.*)\})? (\S+)/i.exec(line)
    if (match === null) continue
    const [, name, labels = '', number] = match
    const value = number === '+Inf' ? Infinity : Number(number)
    if (Number.isNaN(value)) continue
    const samples = metrics.get(name!) ?? []
    metrics.set(name!, samples)
    samples.push({ labels: readLabels(labels), value })
  }
  return metrics
}

function readLabels(text: string): Readonly<Record<string, string>> {
  // Without a prototype, since names and values come from elsewhere.
  const labels = Object.create(null) as Record<string, string>
  for (const [, name, value] of text.matchAll(/([a-z_]\w*)="((?:[^"\\]|\\.)*)"/gi))
    labels[name!] = value!.replaceAll(/\\(.)/g, (_, one: string) => (one === 'n' ? '\n' : one))
  return labels
}
