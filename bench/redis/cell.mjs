// One contender in a process of its own: first cold, then all allowed and all refused, with few and many in flight.
import { inputFromParent, reportToParent } from '../lib/child.mjs'
import { cpuSeconds } from '../lib/cpu.mjs'
import { subjectOf } from './contenders.mjs'
import { drive } from './drive.mjs'
import { userKeys } from './keys.mjs'
import { loads } from './loads.mjs'
import { serverFigures } from './server-figures.mjs'

const KEYS = 10_000
/** Of each load, decisions before those that count: the compiler has seen everything by then. */
const WARM_UP = 60_000
/** No load may take longer, however busy the machine is. */
const SECONDS = 8
/** One token a minute, so that every key lives for at least a minute and what is exhausted stays so. */
const REFILL = { quota: 1, window: 60_000 }

/** @typedef {import('./loads.mjs').Share} Share */

/**
 * One load's figures.
 * @typedef {object} Measured
 * @property {number} rate decisions per second
 * @property {number} p50 milliseconds
 * @property {number} p99 milliseconds
 * @property {number} clientCpu microseconds per decision
 * @property {number} serverCpu microseconds per decision
 * @property {number} perCall decisions in one script call
 * @property {number} microsPerCall mean wall time of a script call on the server
 * @property {number} p50MicrosPerCall half of the calls took less; unlike the mean, it forgives a neighbour
 * @property {number} p99MicrosPerCall
 * @property {number} calls of the script
 * @property {number} slowCalls those that took longer than 1 ms
 */

/**
 * @param {{ contender: string, url: string, share: number }} input the share of the loads' decisions to make
 * @returns {Promise<{ measured: Measured[], failure?: string }>} in the order of the loads, up to the one that failed
 */
async function measure(input) {
  /** @type {Measured[]} */
  const measured = []
  try {
    for (const share of /** @type {Share[]} */ (['cold', 'allowed', 'refused']))
      await measureShare(share, input, measured)
    return { measured }
  } catch (error) {
    const { share, inFlight } = loads[measured.length] ?? { share: 'end', inFlight: 0 }
    const failure = `${share} @${inFlight}: ${String(error)}`
    return { measured, failure }
  }
}

/** @param {Share} share @param {{ contender: string, url: string, share: number }} input @param {Measured[]} results */
async function measureShare(share, { contender, url, share: part }, results) {
  const server = await serverFigures(url)
  await server.clear()
  // A burst of one is gone after the first round over the keys.
  const burst = share === 'refused' ? 1 : 50_000_000
  const subject = await subjectOf(contender, { url, burst, ...REFILL })
  const keys = userKeys(KEYS).map(subject.prepare ?? ((key) => key))
  const isCold = share === 'cold'
  if (!isCold)
    await drive(subject, keys, { inFlight: 64, decisions: KEYS + WARM_UP, seconds: SECONDS })

  for (const { inFlight, decisions } of loads.filter((load) => load.share === share)) {
    const asked = { inFlight, seconds: SECONDS, decisions: decisions * part }
    if (!isCold) await drive(subject, keys, { ...asked, decisions: asked.decisions / 4 })
    globalThis.gc?.()
    const { result, served } = await server.during(async () => {
      const before = cpuSeconds()
      const driven = await drive(subject, keys, asked)
      return { ...driven, cpu: cpuSeconds() - before }
    })
    const { answered, allowed, p50, p99, cpu } = result
    if (allowed !== (share === 'refused' ? 0 : answered)) {
      throw new Error(`${allowed} of ${answered} allowed`)
    }
    results.push({
      rate: answered / result.seconds,
      p50,
      p99,
      clientCpu: (1e6 * cpu) / answered,
      serverCpu: (1e6 * served.cpuSeconds) / answered,
      perCall: answered / served.calls,
      microsPerCall: served.microsPerCall,
      p50MicrosPerCall: served.p50MicrosPerCall,
      p99MicrosPerCall: served.p99MicrosPerCall,
      calls: served.calls,
      slowCalls: served.slowCalls,
    })
  }
}

reportToParent(await measure(inputFromParent()))
