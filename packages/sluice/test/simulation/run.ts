// One seed: a fleet, requests and faults as the seed says, then peace, and everything is checked.
import { Random } from '../redis/random.ts'
import { FAULTS } from './faults.ts'
import { Fleet } from './fleet.ts'

const NAMES = Object.keys(FAULTS)

/** What came of a seed. */
export interface Run {
  readonly seed: number
  /** What should never be; empty is good. */
  readonly broken: readonly string[]
  /** Every fault and every answer, in order. */
  readonly trace: readonly string[]
}

/** Plays a seed. */
export async function run(seed: number): Promise<Run> {
  const random = new Random(seed)
  const fleet = new Fleet(random)
  const { world, oracle } = fleet
  const ends: (() => void)[] = []
  const requests = random.whole(25, 50)
  for (let i = 0; i < requests; i++) {
    if (random.chance(0.1)) begin(fleet, random, ends)
    void fleet.ask()
    if (random.chance(0.8)) await world.pass(random.pick([0, 1, 3, 10, 30, 120]))
  }
  for (const end of ends.splice(0)) end()
  await recover(fleet)
  await world.pass(2000)
  oracle.checkCharges(fleet.pods)
  fleet.close()
  return { seed, broken: oracle.broken, trace: oracle.trace }
}

function begin(fleet: Fleet, random: Random, ends: (() => void)[]): void {
  const name = random.pick(NAMES)
  // A server that is down has nothing more to lose.
  if (!fleet.server.isUp && name.startsWith('server')) return
  if (!fleet.server.isUp && name.startsWith('failover')) return
  const { lasts, end } = FAULTS[name]!(fleet, random)
  fleet.oracle.trace.push(`${name} for ${lasts}`)
  const once = (): void => {
    const i = ends.indexOf(once)
    if (i >= 0) ends.splice(i, 1)
    end()
  }
  ends.push(once)
  fleet.world.at(fleet.world.now + lasts, () => {
    if (ends.includes(once)) once()
  })
}

/** Within a second of peace, every pod is answered by the store. */
async function recover(fleet: Fleet): Promise<void> {
  const waiting = new Set(fleet.pods)
  for (let passed = 0; passed <= 1400 && waiting.size > 0; passed += 20) {
    for (const pod of waiting) {
      // Two at once: a pod that still probes would answer one of them itself.
      void Promise.all([fleet.ask(pod), fleet.ask(pod)]).then((both) => {
        if (both.every((decision) => decision?.degraded === false)) waiting.delete(pod)
      })
    }
    await fleet.world.pass(20)
  }
  for (const { name } of waiting) fleet.oracle.broken.push(`${name} did not find the store again`)
}
