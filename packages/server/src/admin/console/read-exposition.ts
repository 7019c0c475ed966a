// Reads the metrics of the service back from their text form, which adds up all workers.

/** One line of the exposition. */
export interface SeriesValue {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** The series of the named metrics. Lines of other metrics are passed over without reading their labels. */
export function readExposition(
  text: string,
  names: ReadonlySet<string>,
): ReadonlyMap<string, readonly SeriesValue[]> {
  const found = new Map<string, SeriesValue[]>()
  for (const line of text.split('\n')) {
    const end = line.search(/[{ ]/)
    if (end <= 0 || line.startsWith('#')) continue
    const name = line.slice(0, end)
    if (!names.has(name)) continue
    const space = line.lastIndexOf(' ')
    const series = { labels: labelsIn(line.slice(end, space)), value: Number(line.slice(space)) }
    const list = found.get(name)
    if (list === undefined) found.set(name, [series])
    else list.push(series)
  }
  return found
}

function labelsIn(text: string): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {}
  for (const [, name, value] of text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
    labels[name!] = value!.replaceAll(/\\(.)/g, (_, c: string) => (c === 'n' ? '\n' : c))
  return labels
}
