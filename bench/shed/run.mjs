// Shedding under four times the load that a real Express server can serve, by wrk: `node bench/shed/run.mjs [seconds]`.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { shed } from 'sluice/http/node'
import { pinToSecondCore } from '../lib/cores.mjs'
import { closedLoad, openLoad } from './load.mjs'

const SECONDS = Number(process.argv[2] ?? 10)
const FACTOR = 4
/** Seconds after the step from which on the server must be stable. */
const STABLE_AFTER = 2

/** @typedef {import('./load.mjs').Answer} Answer */

const core = pinToSecondCore()

/** @template T @param {string} kind @param {(port: number, pauses: () => Promise<number[]>) => Promise<T>} run @returns {Promise<T>} */
async function withServer(kind, run) {
  const file = new URL('./server.mjs', import.meta.url)
  // Server and load each have a core of their own, where the system can.
  const pinned = { execPath: 'taskset', execArgv: ['-c', String(core), process.execPath] }
  const child = fork(file, [kind], core === undefined ? {} : pinned)
  try {
    const [port] = await once(child, 'message')
    return await run(port, async () => {
      child.send('pauses')
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

const { capacity, unloaded } = await withServer('plain', async (port) => {
  await closedLoad(port, 8, 2)
  const alone = await closedLoad(port, 1, 4)
  const full = await closedLoad(port, 8, 5)
  return { capacity: full.filter(isGood).length / 5, unloaded: percentile(alone, 0.99) }
})
console.log(`capacity ${capacity.toFixed(0)}/s, p99 unloaded ${unloaded.toFixed(1)} ms`)

for (const kind of ['plain', 'shed', 'front']) {
  const { answers, pauses } = await withServer(kind, async (port, pauses) => {
    // Half of the capacity first, so that the server knows itself.
    await openLoad(port, capacity / 2, 3)
    await pauses()
    return { answers: await openLoad(port, FACTOR * capacity, SECONDS), pauses: await pauses() }
  })
  report(kind, answers, pauses)
}

/** @param {string} kind @param {Answer[]} answers @param {number[]} pauses */
function report(kind, answers, pauses) {
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
  console.log(
    `${kind}: answered ${offered.toFixed(1)} x capacity, goodput ${(100 * goodput).toFixed(1)} % of capacity, ` +
      `p99 admitted ${p99.toFixed(1)} ms (${(p99 / unloaded).toFixed(1)} x unloaded)\n` +
      `  served: ${shares.join(', ')}\n  good answers by second: ${bySecond.join(' ')}\n` +
      `  the slowest hundredth waited ${(100 * before).toFixed(0)} % of its time for the server's turn; the server had no core for ` +
      `${pauses.reduce((sum, one) => sum + one, 0).toFixed(0)} ms, at most ${Math.max(0, ...pauses).toFixed(0)} ms at once`,
  )
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
