// Shedding under four times the load that a real Express server can serve, by wrk: `node bench/shed/run.mjs [seconds] [rounds]`.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { shed } from 'sluice/http/node'
import { pinToSecondCore } from '../lib/cores.mjs'
import { closedLoad, openLoad } from './load.mjs'

const SECONDS = Number(process.argv[2] ?? 10)
/** Interleaved: inside of Express, in front of it, and again. */
const ROUNDS = Number(process.argv[3] ?? 3)
const FACTOR = 4
/** Seconds after the step from which on the server must be stable. */
const STABLE_AFTER = 2

/** @typedef {import('./load.mjs').Answer} Answer */

const core = pinToSecondCore()

/** @template T @param {string} kind @param {(port: number, look: () => Promise<Look>) => Promise<T>} run @returns {Promise<T>} */
async function withServer(kind, run) {
  const file = new URL('./server.mjs', import.meta.url)
  // Server and load each have a core of their own, where the system can.
  const pinned = { execPath: 'taskset', execArgv: ['-c', String(core), process.execPath] }
  const child = fork(file, [kind], core === undefined ? {} : pinned)
  try {
    const [port] = await once(child, 'message')
    return await run(port, async () => {
      child.send('look')
      return (await once(child, 'message'))[0]
    })
  } finally {
    child.disconnect()
  }
}

/** @param {Answer[]} answers @param {number} share */
function percentile(answers, share) {
  const sorted = answers.map(({ took }) => took).toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}

const isGood = (/** @type {Answer} */ { status }) => status === 200

/**
 * What the server can do, just before a run: the speed of a shared machine changes from minute to minute.
 * @returns {Promise<Alone>}
 */
function measureAlone() {
  return withServer('plain', async (port, look) => {
    await closedLoad(port, 8, 1)
    const alone = await closedLoad(port, 1, 3)
    await look()
    const full = await closedLoad(port, 8, 2)
    const { worked } = await look()
    const capacity = full.filter(isGood).length / 2
    return { capacity, unloaded: percentile(alone, 0.99), share: worked / 2000 }
  })
}

/** @typedef {{ capacity: number, unloaded: number, share: number }} Alone */
/** @typedef {{ pauses: number[], worked: number }} Look */

/** @type {Record<string, { goodput: number, share: number, stretch: number, critical: number }[]>} */
const results = { shed: [], front: [] }
const kinds = ['plain', ...Array.from({ length: ROUNDS }, () => ['shed', 'front']).flat()]
for (const kind of kinds) {
  const alone = await measureAlone()
  const { answers, look } = await withServer(kind, async (port, look) => {
    // Half of the capacity first, so that the server knows itself.
    await openLoad(port, alone.capacity / 2, 3)
    await look()
    return { answers: await openLoad(port, FACTOR * alone.capacity, SECONDS), look: await look() }
  })
  const result = report(kind, answers, look, alone)
  results[kind]?.push(result)
}
for (const [kind, runs] of Object.entries(results)) {
  const spread = (/** @type {number[]} */ list) => {
    const sorted = list.toSorted((a, b) => a - b)
    return `${sorted[sorted.length >> 1]?.toFixed(1)} (${sorted[0]?.toFixed(1)} to ${sorted.at(-1)?.toFixed(1)})`
  }
  console.log(
    `${kind}, ${runs.length} runs, median and all: goodput ${spread(runs.map(({ goodput }) => goodput))} % of capacity, ` +
      `by the server's time ${spread(runs.map(({ share }) => share))} %, ` +
      `p99 ${spread(runs.map(({ stretch }) => stretch))} x unloaded, critical ${spread(runs.map(({ critical }) => critical))} %`,
  )
}

/** Prints a run. @param {string} kind @param {Answer[]} answers @param {Look} look @param {Alone} alone */
function report(kind, answers, { pauses, worked }, { capacity, unloaded, share }) {
  const isStable = (/** @type {Answer} */ { at }) =>
    at >= STABLE_AFTER * 1000 && at < SECONDS * 1000
  // What a client waits for more than 1 s is no good to it.
  const good = answers.filter((one) => isGood(one) && one.took <= 1000)
  const stable = good.filter(isStable)
  const goodput = stable.length / (SECONDS - STABLE_AFTER) / capacity
  const admitted = answers.filter((one) => isGood(one) && isStable(one))
  const p99 = percentile(admitted, 0.99)
  const slowest = admitted.toSorted((a, b) => b.took - a.took).slice(0, admitted.length / 100)
  const before = slowest.reduce((sum, one) => sum + one.before / one.took, 0) / slowest.length
  const shares = ['critical', 'normal', 'background'].map((priority) => {
    const all = answers.filter((one) => one.priority === priority && isStable(one))
    return `${priority} ${((100 * all.filter(isGood).length) / Math.max(1, all.length)).toFixed(2)} % of ${all.length}`
  })
  const bySecond = Array.from(
    { length: SECONDS },
    (_, i) => good.filter(({ at }) => Math.floor(at / 1000) === i).length,
  )
  const offered = answers.filter(isStable).length / (SECONDS - STABLE_AFTER) / capacity
  const ofTime = worked / (SECONDS * 1000) / share
  console.log(
    `capacity ${capacity.toFixed(0)}/s, p99 unloaded ${unloaded.toFixed(1)} ms\n` +
      `${kind}: answered ${offered.toFixed(1)} x capacity, goodput ${(100 * goodput).toFixed(1)} % of capacity ` +
      `(${(100 * ofTime).toFixed(1)} % of the time that it works at capacity), p99 admitted ${p99.toFixed(1)} ms (${(p99 / unloaded).toFixed(1)} x unloaded)\n` +
      `  served: ${shares.join(', ')}\n  good answers by second: ${bySecond.join(' ')}\n` +
      `  the slowest hundredth waited ${(100 * before).toFixed(0)} % of its time for the server's turn; the server had no core for ` +
      `${pauses.reduce((sum, one) => sum + one, 0).toFixed(0)} ms, at most ${Math.max(0, ...pauses).toFixed(0)} ms at once`,
  )
  const critical = answers.filter((one) => one.priority === 'critical' && isStable(one))
  return {
    goodput: 100 * goodput,
    share: 100 * ofTime,
    stretch: p99 / unloaded,
    critical: (100 * critical.filter(isGood).length) / Math.max(1, critical.length),
  }
}

// The cost of a request that passes, on this process alone.
const passes = shed()
const REQUESTS = 300_000
const measured = () => {
  /** @type {(() => void)[]} */
  let closing = []
  const response = {
    once: (/** @type {string} */ _, /** @type {() => void} */ close) => closing.push(close),
  }
  const before = process.cpuUsage()
  for (let i = 0; i < REQUESTS; i++) {
    closing = []
    passes(
      /** @type {never} */ ({ headers: {}, url: '/', method: 'GET' }),
      /** @type {never} */ (response),
      () => {},
    )
    for (const close of closing) close()
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / REQUESTS
}
measured()
console.log(`cost: ${measured().toFixed(2)} µs of processor time per request that passes`)
passes.close()
