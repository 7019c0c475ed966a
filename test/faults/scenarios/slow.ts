// Networks that are slow or lose what they carry.
import type { ProxyFaults } from '../fault-proxy.ts'
import type { Orders } from '../orders.ts'
import { throughProxy } from '../places.ts'
import { type Bounds, type Scenario, TIMEOUT } from '../scenario.ts'

/** A fault of the network while it lasts. */
function network(
  name: string,
  faults: ProxyFaults,
  bounds: Bounds = {},
  load: Partial<Orders> = {},
): Scenario {
  return {
    name,
    length: { test: 3000, full: 5000 },
    open: throughProxy(async ({ proxy }, { begin, back, last }) => {
      begin()
      proxy.set(faults)
      await last()
      proxy.set({})
      back()
    }),
    bounds,
    load,
  }
}

/** Once a second a reply is broken off, and the connection with it. */
function broken(name: string, how: 'cut' | 'lose'): Scenario {
  return {
    name,
    length: { test: 4000, full: 8000 },
    open: throughProxy(async ({ proxy }, { begin, back, last, length }) => {
      begin()
      for (let second = 0; second < length / 1000; second++) {
        proxy.breakReplies(how)
        await last(1000)
      }
      back()
    }),
    // A reply holds up to 64 answers; under this load it holds a few.
    bounds: { unheard: 8 * 64, median: TIMEOUT },
  }
}

const everyByte = (latency: number): ProxyFaults => ({
  toServer: { latency: latency / 2 },
  toClient: { latency: latency / 2 },
})

export const slow: readonly Scenario[] = [
  // With a deadline of 100 ms it would be a toss-up which of the two comes first.
  network('+100 ms, deadline 50 ms', everyByte(100), {}, { timeout: 50 }),
  network(
    '+100 ms on the way back, deadline 50 ms',
    { toClient: { latency: 100 } },
    {},
    { timeout: 50 },
  ),
  network('+2 s', everyByte(2000)),
  network(
    '2 % stalls of 200 ms',
    { toClient: { stall: { share: 0.02, delay: 200 } } },
    { median: TIMEOUT },
  ),
  network('4 kB/s in pieces of 7 bytes', { toClient: { bandwidth: 4000, piece: 7 } }),
  broken('cut replies', 'cut'),
  broken('lost replies', 'lose'),
  {
    name: 'connection half open',
    length: { test: 3000, full: 5000 },
    open: throughProxy(async ({ proxy }, { begin, back, last }) => {
      begin()
      proxy.forsake()
      await last()
      proxy.reset()
      back()
    }),
    bounds: {},
  },
]
