// What can go wrong in a simulated fleet, each for a while.
import type { Millis } from '../../src/time/clock.ts'
import type { Random } from '../redis/random.ts'
import type { Fleet } from './fleet.ts'
import type { Pod } from './pod.ts'

/** Begins a fault, and returns how it ends. */
export type Fault = (fleet: Fleet, random: Random) => { lasts: Millis; end: () => void }

const nothing = (): void => {}

/** Sets something about the links of one pod or of all, and sets it back. */
function weather(set: (pod: Pod, random: Random) => void, clear: (pod: Pod) => void): Fault {
  return (fleet, random) => {
    const pods = random.chance(0.5) ? [...fleet.pods] : [random.pick(fleet.pods)]
    for (const pod of pods) set(pod, random)
    return { lasts: random.whole(50, 1200), end: () => pods.forEach(clear) }
  }
}

/** Every kind, by name. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  delay: weather(
    ({ link }, random) => (link.weather.delay = random.pick([5, 40, 60, 150, 400])),
    ({ link }) => (link.weather.delay = 0),
  ),
  'lost commands': weather(
    ({ link }, random) => (link.weather.lostCommands = random.pick([0.1, 0.5, 1])),
    ({ link }) => (link.weather.lostCommands = 0),
  ),
  'lost replies': weather(
    ({ link }, random) => (link.weather.lostReplies = random.pick([0.1, 0.5, 1])),
    ({ link }) => (link.weather.lostReplies = 0),
  ),
  duplicate: weather(
    ({ link }) => (link.weather.twice = 0.5),
    ({ link }) => (link.weather.twice = 0),
  ),
  cut: (fleet, random) => {
    const pod = random.pick(fleet.pods)
    pod.link.cut()
    return { lasts: random.whole(0, 400), end: () => pod.connect() }
  },
  busy: ({ server }, random) => {
    server.isBusy = true
    return { lasts: random.whole(50, 1000), end: () => (server.isBusy = false) }
  },
  'server stopped': ({ server }, random) => {
    server.stop()
    return { lasts: random.pick([30, 90, 110, 300, 1500]), end: () => server.goOn() }
  },
  'server killed': (fleet, random) => fleet.restart(random, fleet.world.now),
  'server killed, empty after': (fleet, random) => fleet.restart(random, -Infinity),
  'failover with lost writes': (fleet, random) =>
    fleet.restart(random, fleet.world.now - random.whole(1, 300)),
  'pod stopped': (fleet, random) => {
    const pod = random.pick(fleet.pods)
    pod.stop()
    return { lasts: random.pick([20, 99, 150, 2000]), end: () => pod.goOn() }
  },
  'pod crashed': (fleet, random) => {
    fleet.replace(random.pick(fleet.pods))
    return { lasts: 0, end: nothing }
  },
  'clock set': ({ server }, random) => {
    server.setClock(random.pick([-3_600_000, -1500, -50, 50, 1500, 3_600_000]))
    return { lasts: 0, end: nothing }
  },
  reload: (fleet, random) => {
    fleet.reload(random.pick([0.5, 1, 2]))
    return { lasts: 0, end: nothing }
  },
}
