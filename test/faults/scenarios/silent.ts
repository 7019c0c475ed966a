// Connections that die without a reset, and packets that stay on their way.
import { hasNetwork } from '../network.ts'
import { onNetwork, throughProxy } from '../places.ts'
import type { Scenario } from '../scenario.ts'

/** Milliseconds, each way: what was sent before the end of the fault arrives that much later. */
const LATENCY = 8000
/** The same in real packets: +2 s for a question and its answer. */
const NETWORK_LATENCY = 1000

/** In real packets, where this process may make a network. The proxy shows the same to everyone else. */
const inNetwork: readonly Scenario[] = [
  {
    name: 'network: packets lost 30 s',
    length: { test: 3000, full: 30_000 },
    open: onNetwork(async (network, { begin, back, last }) => {
      begin()
      network.losePackets(true)
      await last()
      network.losePackets(false)
      back()
    }),
    bounds: {},
  },
  {
    name: 'network: the address of the host moved',
    length: { test: 0, full: 0 },
    open: onNetwork(async (network, { begin, back }) => {
      begin()
      network.moveClient()
      back()
    }),
    bounds: {},
  },
  {
    name: 'network: +2 s, packets on their way keep it',
    length: { test: 3000, full: 5000 },
    open: onNetwork(async (network, { begin, back, last }) => {
      begin()
      network.delayPackets(NETWORK_LATENCY)
      await last()
      network.delayPackets(0)
      back()
    }),
    bounds: {},
  },
]

export const silent: readonly Scenario[] = [
  ...(hasNetwork() ? inNetwork : []),
  {
    name: 'packets lost 30 s',
    length: { test: 3000, full: 30_000 },
    open: throughProxy(async ({ proxy }, { begin, back, last }) => {
      begin()
      proxy.losePackets(true)
      await last()
      proxy.losePackets(false)
      back()
    }),
    bounds: {},
  },
  {
    name: 'connection dead without a reset, new ones work',
    length: { test: 0, full: 0 },
    open: throughProxy(async ({ proxy }, { begin, back }) => {
      begin()
      proxy.forsake()
      back()
    }),
    bounds: {},
  },
  {
    name: '+8 s, packets on their way keep it',
    length: { test: 3000, full: 5000 },
    open: throughProxy(async ({ proxy }, { begin, back, last }) => {
      begin()
      proxy.set({ toServer: { latency: LATENCY }, toClient: { latency: LATENCY } })
      await last()
      proxy.set({}, 'asSent')
      back()
    }),
    bounds: {},
  },
]
