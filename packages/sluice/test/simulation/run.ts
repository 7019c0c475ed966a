// One seed: a fleet, requests and faults as the seed says, then peace, and everything is checked.
import { Random } from '../redis/random.ts'
import { FAULTS } from './faults.ts'
import { Fleet } from './fleet.ts'
import { TIMEOUT } from './pod.ts'

const NAMES = Object.keys(FAULTS)
/** Milliseconds of peace after which the store answers every pod. */
const BACK_WITHIN = 1000
/** Milliseconds after which nothing is on its way any more, and every refund that can be sent has been. */
const QUIET = 12_000

/** What came of a seed. */
export interface Run {
  readonly seed: number
  /** What should never be; empty is good. */
  readonly broken: readonly string[]
  /** Every fault and every answer, in order. */
  readonly trace: readonly string[]
  /** Milliseconds of peace until the store had answered every pod. */
  readonly backAfter: number
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
  const backAfter = await recover(fleet)
  await world.pass(QUIET)
  oracle.checkCharges(fleet.pods)
  fleet.close()
  return { seed, broken: oracle.broken, trace: oracle.trace, backAfter }
}

function begin(fleet: Fleet, random: Random, ends: (() => void)[]): void {
  const name = random.pick(NAMES)
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

/** Soon after peace began, every pod is answered by the store. Returns how long that took. */
async function recover(fleet: Fleet): Promise<number> {
  const waiting = new Set(fleet.pods)
  let passed = 0
  for (; waiting.size > 0 && passed < BACK_WITHIN; passed += 20) {
    for (const pod of waiting) {
      // Two at once: a pod that still probes would answer one of them itself.
      void Promise.all([fleet.ask(pod), fleet.ask(pod)]).then((both) => {
        if (both.every((decision) => decision?.degraded === false)) waiting.delete(pod)
      })
    }
    await fleet.world.pass(20)
  }
  // The last requests may still be on their way.
  await fleet.world.pass(TIMEOUT)
  for (const { name } of waiting) fleet.oracle.broken.push(`${name} did not find the store again`)
  return passed
}
