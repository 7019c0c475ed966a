// What can go wrong in a simulated fleet, each for a while.
import type { Millis } from '../../src/time/clock.ts'
import type { Random } from '../redis/random.ts'
import type { Fleet } from './fleet.ts'
import type { Weather } from './link.ts'
import type { Pod } from './pod.ts'
import type { Server } from './server.ts'

/** Begins a fault, and returns how it ends. */
export type Fault = (fleet: Fleet, random: Random) => { lasts: Millis; end: () => void }

const nothing = (): void => {}

function somePods(fleet: Fleet, random: Random): readonly Pod[] {
  return random.chance(0.5) ? fleet.pods : [random.pick(fleet.pods)]
}

/** Sets something about the network of one pod or of all, and sets it back. */
function weather(set: (weather: Weather, random: Random) => void): Fault {
  return (fleet, random) => {
    const pods = somePods(fleet, random)
    for (const { network } of pods) set(network.weather, random)
    const end = (): void => {
      for (const { network } of pods)
        Object.assign(network.weather, {
          delay: 0,
          lostCommands: 0,
          lostReplies: 0,
          twice: 0,
          isDark: false,
        })
    }
    return { lasts: random.whole(50, 1200), end }
  }
}

/** Something that happens to one server or one node. */
function ofServer(
  begin: (server: Server, fleet: Fleet, random: Random) => ReturnType<Fault>,
): Fault {
  return (fleet, random) => {
    const server = random.pick(fleet.servers)
    // A server that is down has nothing more to lose.
    if (!server.isUp) return { lasts: 0, end: nothing }
    return begin(server, fleet, random)
  }
}

/** Every kind, by name. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  delay: weather((own, random) => (own.delay = random.pick([5, 40, 60, 150, 400]))),
  'lost commands': weather((own, random) => (own.lostCommands = random.pick([0.1, 0.5, 1]))),
  'lost replies': weather((own, random) => (own.lostReplies = random.pick([0.1, 0.5, 1]))),
  duplicate: weather((own) => (own.twice = 0.5)),
  'packets lost': weather((own) => (own.isDark = true)),
  'connections dead without a reset': (fleet, random) => {
    for (const { network } of somePods(fleet, random)) network.silence()
    return { lasts: 0, end: nothing }
  },
  'connections reset': (fleet, random) => {
    for (const { network } of somePods(fleet, random)) network.cut()
    return { lasts: 0, end: nothing }
  },
  busy: ofServer((server, _, random) => {
    server.isBusy = true
    return { lasts: random.whole(50, 1000), end: () => (server.isBusy = false) }
  }),
  'server stopped': ofServer((server, _, random) => {
    server.stop()
    return { lasts: random.pick([30, 90, 110, 300, 1500]), end: () => server.goOn() }
  }),
  'server killed': ofServer((server, fleet, random) =>
    fleet.restart(server, random.whole(0, 800), fleet.world.now),
  ),
  'server killed, empty after': ofServer((server, fleet, random) =>
    fleet.restart(server, random.whole(0, 800), -Infinity),
  ),
  'failover with lost writes': ofServer((server, fleet, random) =>
    fleet.restart(server, random.whole(0, 800), fleet.world.now - random.whole(1, 300)),
  ),
  'a count dropped': ofServer((server, _, random) => {
    if (server.evicts) server.drop((names) => random.pick(names))
    return { lasts: 0, end: nothing }
  }),
  'pod stopped': (fleet, random) => {
    const pod = random.pick(fleet.pods)
    pod.stop()
    return { lasts: random.pick([20, 99, 150, 2000]), end: () => pod.goOn() }
  },
  'pod crashed': (fleet, random) => {
    fleet.replace(random.pick(fleet.pods))
    return { lasts: 0, end: nothing }
  },
  'clock set': ofServer((server, _, random) => {
    server.setClock(random.pick([-3_600_000, -1500, -50, 50, 1500, 3_600_000]))
    return { lasts: 0, end: nothing }
  }),
  reload: (fleet, random) => {
    fleet.reload(random.pick([0.5, 1, 2]))
    return { lasts: 0, end: nothing }
  },
}
