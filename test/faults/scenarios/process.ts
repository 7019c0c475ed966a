// The application's own troubles: it stands still, gives up waiting, is many, or has more to do.
import { ALLOWED, DEGRADED } from '../orders.ts'
import { onServer, throughProxy } from '../places.ts'
import { PATIENT, type Place, type Scenario, TIMEOUT } from '../scenario.ts'

const MEGABYTE = 2 ** 20

/**
 * Units of the hot key that the fallback admitted, although the store was there all the time, and requests for keys of their
 * own that were refused.
 */
const wronglyDecided: NonNullable<Place['measure']> = ({ answer, key }) => {
  const admitted = [...answer].filter((bits, i) => key[i]! < 0 && bits === ALLOWED + DEGRADED)
  const refused = [...answer].filter((bits, i) => key[i]! >= 0 && (bits & ALLOWED) === 0)
  return [
    { what: 'units beyond the limit', value: admitted.length, most: 0 },
    { what: 'rightful requests refused', value: refused.length, most: 0 },
  ]
}

const startOnServer = onServer(async (_, { begin, back, last }) => {
  begin()
  await last()
  back()
})

export const processes: readonly Scenario[] = [
  {
    name: 'event loop blocked 2 s',
    length: { test: 2000, full: 2000 },
    open: onServer(async (_, { begin, back, last, length, pods }) => {
      begin()
      for (const pod of pods) pod.block(length)
      await last()
      back()
    }),
    bounds: { fallback: 0, median: 2000 },
  },
  {
    name: 'process suspended 5 s',
    length: { test: 5000, full: 5000 },
    open: onServer(async (_, { begin, back, last, pods }) => {
      begin()
      for (const pod of pods) pod.kill('SIGSTOP')
      await last()
      for (const pod of pods) pod.kill('SIGCONT')
      back()
    }),
    // A call that had not left when the process stopped comes too late.
    bounds: { fallback: 64, median: 5000 },
  },
  {
    name: 'callers abort at 10 ms, replies after 50 ms',
    length: { test: 2000, full: 5000 },
    load: { patience: 10 },
    open: throughProxy(async ({ proxy }, { begin, back, last }) => {
      begin()
      proxy.set({ toClient: { latency: 50 } })
      await last()
      proxy.set({})
      back()
    }),
    bounds: { fallback: 0, median: TIMEOUT },
  },
  {
    name: 'eight pods start in turn on a healthy server',
    length: { test: 1000, full: 2000 },
    load: { isImmediate: true, hotPerSecond: 100, oncePerSecond: 25 },
    pods: 8,
    isCold: true,
    isAlone: true,
    open: async (seed) => ({ ...(await startOnServer(seed)), measure: wronglyDecided }),
    // Not one request may be answered without the store; the first ones wait for the connection.
    bounds: { fallback: 0, median: PATIENT },
  },
  {
    name: '50 clients reconnect',
    length: { test: 2000, full: 5000 },
    load: { connections: 50 },
    isAlone: true,
    isPatient: true,
    open: throughProxy(async ({ proxy }, { begin, back, last, hold }) => {
      begin()
      await proxy.refuse()
      await last()
      const from = proxy.accepted.length
      await proxy.accept()
      back()
      await last(1500)
      hold('connects in 100 ms', mostWithin(proxy.accepted.slice(from), 100), 10, true)
    }),
    // Fifty limiters are fifty fallbacks, as if they were pods.
    bounds: { median: TIMEOUT },
  },
  {
    name: '5,000 requests/s, stopped (SIGSTOP) 10 s',
    length: { test: 4000, full: 10_000 },
    load: { hotPerSecond: 4000, oncePerSecond: 1000 },
    // A busy machine cannot serve 5,000 a second within the deadline, so the store would never count as back.
    gentleLoad: { hotPerSecond: 1200, oncePerSecond: 300 },
    isAlone: true,
    open: onServer(async (server, { begin, back, last, length, pods, hold }) => {
      const before = await Promise.all(pods.map((pod) => pod.heap()))
      begin()
      server.kill('SIGSTOP')
      await last(length - 500)
      const then = await Promise.all(pods.map((pod) => pod.heap()))
      await last(500)
      server.kill('SIGCONT')
      back()
      const growth = then.map((heap, i) => heap - before[i]!)
      hold('MB of heap more', Math.max(...growth) / MEGABYTE, 20)
    }),
    bounds: {},
  },
  {
    name: 'eight pods, 20 flaps',
    length: { test: 400, full: 800 },
    load: { hotPerSecond: 100, oncePerSecond: 10 },
    pods: 8,
    isAlone: true,
    isPatient: true,
    open: throughProxy(async ({ proxy }, { begin, back, last, length }) => {
      begin()
      for (let flap = 0; flap < 20; flap++) {
        await proxy.refuse()
        await last(length * 0.4)
        await proxy.accept()
        await last(length * 0.6)
      }
      back()
    }),
    bounds: { unheard: 20 * 64 },
  },
]

/** The most instants within any span of that many ms. */
function mostWithin(instants: readonly number[], span: number): number {
  const counts = instants.map((start) => instants.filter((at) => at >= start && at < start + span))
  return Math.max(0, ...counts.map((within) => within.length))
}
