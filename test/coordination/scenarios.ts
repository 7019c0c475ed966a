// What happens to a fleet while it is under load.
import { until } from '../servers/until.ts'
import { after, type Fleet } from './fleet.ts'
import type { Plan } from './orders.ts'
import { sharedTime } from './record.ts'

/** One scenario. */
export interface Scenario {
  readonly name: string
  readonly isBursty: boolean
  readonly keys: number
  readonly isOffAndOn?: boolean
  /** The least that leased must admit of what strict admits. */
  readonly share?: number
  /** Whether sentinels guard the server. */
  readonly isGuarded?: boolean
  /** Lets it happen while the load is on. Gives the instant from which on the counts are those of an empty server. */
  readonly happen: (fleet: Fleet, length: number) => Promise<number | void>
}

const HOT = { isBursty: true, keys: 1 } as const

/** The scenarios, in the order of the table. */
export const scenarios: readonly Scenario[] = [
  { ...HOT, name: 'steady demand', isBursty: false, share: 0.98, happen: pass },
  { ...HOT, name: '80 % to one process', isBursty: false, share: 0.95, happen: skew },
  {
    ...HOT,
    name: 'bursts off and on',
    isBursty: false,
    isOffAndOn: true,
    share: 0.95,
    happen: pass,
  },
  { ...HOT, name: 'bursts', happen: pass },
  { ...HOT, name: 'Zipf, 100 keys', keys: 100, happen: pass },
  { ...HOT, name: 'SIGKILL of one', isBursty: false, happen: crash },
  { ...HOT, name: 'SIGSTOP past the end', isBursty: false, happen: stopPastTheEnd },
  { ...HOT, name: 'store stalled 2 s', happen: stall },
  { ...HOT, name: 'store restarted empty', happen: restartEmpty },
  { ...HOT, name: 'failover by Sentinel', isGuarded: true, happen: failOver },
  { ...HOT, name: 'rolling restart', happen: roll },
]

async function pass({ members }: Fleet, length: number): Promise<void> {
  await members[0]!.until(after(length))
}

/** One process gets 80 % of all requests, and the others the rest. */
async function skew(fleet: Fleet, length: number): Promise<void> {
  const [first, ...others] = fleet.members
  const all = fleet.members.length
  first!.load(0.8 * all)
  for (const member of others) member.load((0.2 * all) / others.length)
  await first!.until(after(length))
}

/** Kills one that has just spent from a lease, so that it leaves units behind, while the others use up the count. */
export async function crash(fleet: Fleet, length: number): Promise<void> {
  const [first, ...others] = fleet.members
  await calm(fleet, length / 3)
  await first!.spends()
  await first!.crash()
  fleet.members.splice(0, 1)
  for (const member of others) member.load(4)
  await others[0]!.until(after((length * 2) / 3))
}

/**
 * Stops one that holds a lease, until the lease has ended and its units have drained. Then the others use up the count,
 * so that each unit that is spent from the ended lease is one too many.
 */
export async function stopPastTheEnd(fleet: Fleet, length: number): Promise<void> {
  const [first, ...others] = fleet.members
  const watch = others[0]!
  await calm(fleet, length / 3)
  await first!.spends()
  first!.kill('SIGSTOP')
  await watch.until(after(fleet.plan.life * 1.5))
  for (const member of others) member.load(8)
  await watch.until(after(length / 6))
  first!.kill('SIGCONT')
  await watch.until(after(length / 3))
}

/** Demand below the limit, most of it at the first member, so that it leases much. */
async function calm({ members }: Fleet, length: number): Promise<void> {
  for (const [i, member] of members.entries()) member.load(i === 0 ? 1 : 0.05)
  await members[0]!.until(after(length))
}

async function stall({ members, server }: Fleet, length: number): Promise<void> {
  const [first] = members
  await first!.until(after(length / 3))
  server.kill('SIGSTOP')
  await first!.until(after(2000))
  server.kill('SIGCONT')
  await first!.until(after((length * 2) / 3))
}

async function restartEmpty({ members, server, plan }: Fleet, length: number): Promise<number> {
  const [first] = members
  await first!.until(after(length / 3))
  server.kill('SIGKILL')
  await until('the server is gone', 2000, async () =>
    server.cli('PING').then(
      () => false,
      () => true,
    ),
  )
  // What the old server leased ends within one life. The new one leases nothing for as long.
  const forgotten = sharedTime() + lastingOf(plan)
  await server.restart()
  await first!.until(after((length * 2) / 3 + plan.life))
  return forgotten
}

/** The primary dies and a replica takes over. It may lack the last writes, in every mode: read apart, as an empty one. */
async function failOver({ members, sentinel, plan }: Fleet, length: number): Promise<number> {
  const [first] = members
  await first!.until(after(length / 3))
  const forgotten = sharedTime() + lastingOf(plan)
  await sentinel!.failover()
  await first!.until(after((length * 2) / 3 + plan.life))
  return forgotten
}

/** For how long members may go on by what a server that is gone told them. */
function lastingOf({ mode, life, interval }: Plan): number {
  return { leased: life, synced: interval, strict: 0 }[mode]
}

/** Each member ends and another one takes its place, one after the other. */
async function roll(fleet: Fleet, length: number): Promise<void> {
  const { members } = fleet
  const end = after(length)
  for (const i of members.keys()) {
    await members[i]!.end()
    const next = await fleet.add(i)
    members[i] = next
    next.load()
  }
  await members[0]!.until(end)
}
