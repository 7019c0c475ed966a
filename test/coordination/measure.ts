// Runs one scenario and reads the merged record.
import type { Program } from '../compile.ts'
import { Fleet } from './fleet.ts'
import type { Missed, Plan } from './orders.ts'
import { sharedTime, type Recorded } from './record.ts'
import type { Scenario } from './scenarios.ts'
import { admittedByOne, worstSpan } from './spans.ts'

/**
 * The store's clock shows whole milliseconds, so a span of real time may be up to 1 ms longer by that clock, in every
 * mode.
 */
const RESOLUTION = 1

/** What one run of a scenario admitted, and the most that any span used of the bucket. */
export interface Measured {
  readonly admitted: number
  /** What one bucket without any latency admits of the same requests. */
  readonly ideal: number
  readonly leased: number
  /** For how long the load was on. */
  readonly milliseconds: number
  /** Of the members that ran to the end. */
  readonly missed: readonly Missed[]
  /** The largest count - rate * T over all spans, and what it may reach. */
  readonly used: number
  readonly bound: number
  /** Calls of scripts that the server has run. */
  readonly calls: number
}

/** How much of what, and for how long. */
export interface Size {
  readonly members: number
  readonly length: number
}

/** Runs a scenario with a fleet of its own. */
export async function measure(
  program: Program,
  { happen, isGuarded }: Pick<Scenario, 'happen' | 'isGuarded'>,
  plan: Plan,
  { members, length }: Size,
): Promise<Measured> {
  const fleet = await Fleet.start(program, plan, members, isGuarded)
  try {
    const began = sharedTime()
    for (const member of fleet.members) member.load()
    const forgotten = await happen(fleet, length)
    const milliseconds = sharedTime() - began
    const missed = await Promise.all(fleet.members.map((member) => member.end()))
    const all = fleet.records()
    const records = all.map((one) => one.filter(({ isRefused }) => !isRefused))
    const record = records.flat()
    const { burst, rate } = plan.bucket
    return {
      admitted: record.length,
      ideal: admittedByOne(plan.bucket, all.flat()),
      leased: record.filter(({ isLeased }) => isLeased).length,
      milliseconds,
      missed,
      used: usedOf(plan, record, forgotten ?? Infinity),
      bound: burst + rate * RESOLUTION + overOf(plan, records),
      calls: callsOf(await (await fleet.primary()).cli('INFO', 'commandstats')),
    }
  } finally {
    await fleet.stop()
  }
}

/** What synced members may admit beyond the limit: of all but one, the most that any admitted of one key in one interval. */
function overOf({ mode, interval }: Plan, records: readonly (readonly Recorded[])[]): number {
  if (mode !== 'synced') return 0
  let most = 0
  for (const record of records) {
    const recent = new Map<number, number[]>()
    for (const { key, earliest } of record.toSorted((a, b) => a.earliest - b.earliest)) {
      const instants = [...(recent.get(key) ?? []), earliest]
      const within = instants.filter((instant) => instant >= earliest - interval)
      recent.set(key, within)
      most = Math.max(most, within.length)
    }
  }
  return (records.length - 1) * most
}

/** A server that is empty has a full bucket, in every mode: the spans before and after it are read apart. */
function usedOf({ bucket }: Plan, record: readonly Recorded[], forgotten: number): number {
  const before = record.filter(({ latest }) => latest < forgotten)
  const since = record.filter(({ earliest }) => earliest >= forgotten)
  return Math.max(...[before, since].map((part) => worstSpan(bucket.rate, part).units))
}

function callsOf(statistics: string): number {
  const calls = statistics.matchAll(/cmdstat_(?:evalsha|eval|fcall):calls=(\d+)/g)
  return [...calls].reduce((sum, [, count]) => sum + Number(count), 0)
}
