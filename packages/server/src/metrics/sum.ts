// Adds up the metrics of several processes, of which some may have ended.
import { familyText, isAmong, type AcrossProcesses, type FamilySnapshot } from './family.ts'
import { sizeOfUnion, type Members } from './hyper-log-log.ts'

const COMBINE: Readonly<Record<AcrossProcesses, (a: number, b: number) => number>> = {
  sum: (a, b) => a + b,
  max: Math.max,
  min: Math.min,
  // For processes that send only a number; the union of the others is computed below.
  union: Math.max,
}

/** All metrics of one process. */
export type Snapshot = readonly FamilySnapshot[]

/**
 * The metrics of a service that is several processes. The counters of an ended process stay in the sum, so that
 * they never go back; its gauges are removed.
 */
export class SummedMetrics {
  private readonly latest = new Map<number, Snapshot>()
  private ended: Snapshot = []

  /** Replaces the last metrics of a process. */
  keep(pid: number, snapshot: Snapshot): void {
    this.latest.set(pid, snapshot)
  }

  /** A process has ended. */
  end(pid: number): void {
    const last = this.latest.get(pid)
    this.latest.delete(pid)
    if (last === undefined) return
    this.ended = summed([this.ended, last.filter(({ kind }) => kind !== 'gauge')])
  }

  /** The exposition of all metrics, or of those with one of the names. `own` are the metrics of this process. */
  text(own: Snapshot, names?: ReadonlySet<string>): string {
    const all = [own, ...this.latest.values(), this.ended]
    return summed(names === undefined ? all : all.map((one) => named(one, names)))
      .filter(({ values }) => values.size > 0)
      .map(({ name, help, kind, values }) => familyText(name, help, kind, linesOf(values)))
      .join('')
  }
}

function named(snapshot: Snapshot, names: ReadonlySet<string>): Snapshot {
  return snapshot.filter((family) => isAmong(family, names))
}

function linesOf(values: FamilySnapshot['values']): readonly string[] {
  return [...values].map(([series, value]) => `${series} ${value}`)
}

type Sum = FamilySnapshot & { readonly values: Map<string, number> }

function summed(snapshots: readonly Snapshot[]): Snapshot {
  const families = new Map<string, Sum>()
  for (const family of snapshots.flat()) {
    const sum = families.get(family.name)
    if (sum === undefined) {
      families.set(family.name, { ...family, values: new Map(family.values) })
      continue
    }
    const combine = COMBINE[family.acrossProcesses]
    for (const [series, value] of family.values) {
      const other = sum.values.get(series)
      sum.values.set(series, other === undefined ? value : combine(other, value))
    }
  }
  for (const [name, { acrossProcesses: across, values }] of families)
    if (across === 'union') countUnions(snapshots, name, values)
  return [...families.values()]
}

/** Sets each value to the number of different members that all processes have seen. */
function countUnions(
  snapshots: readonly Snapshot[],
  name: string,
  values: Map<string, number>,
): void {
  const parts = new Map<string, Members[]>()
  for (const { members } of snapshots.flat().filter((family) => family.name === name))
    for (const [series, seen] of members ?? []) {
      const others = parts.get(series)
      if (others === undefined) parts.set(series, [seen])
      else others.push(seen)
    }
  for (const [series, all] of parts) values.set(series, sizeOfUnion(all))
}
