// One cell of the speed table, in a process of its own: one contender under one load, all shares of it.
import { inputFromParent, reportToParent } from '../lib/child.mjs'
import { cpuSeconds } from '../lib/cpu.mjs'
import { median } from '../lib/statistics.mjs'
import { subjectOf } from './contenders.mjs'
import { inTurn, keysOf } from './keys.mjs'
import { loads, ONCE, WARM_UP_KEYS } from './loads.mjs'

/** CPU seconds that one timed slice should take, and the most decisions it may have. */
const SLICE_SECONDS = 0.06
const SLICE_DECISIONS = 2_000_000
/** The first decisions of a process: what a short measurement, or a process that has just begun, pays. */
const COLD = 2000
/** Slices of new strings before the clock runs; the compiler needs them all. */
const WARM_SLICES = 8
/** Enough for every key, hardly refilled: what is exhausted stays so. */
const LIMIT = { burst: 50_000_000, quota: 1, window: 24 * 60 * 60 * 1000 }

/** @typedef {{ contender: string, load: string, shares: readonly import('./loads.mjs').Share[], slices: number }} CellInput */
/** @typedef {{ rate: number, best: number }} CellResult decisions per CPU-second: the median slice and the best */
/** @typedef {{ cold: number, shares: Record<string, CellResult> }} CellResults `cold`: CPU µs of each of the first decisions */

/** @param {CellInput} input @returns {Promise<CellResults>} */
async function measure({ contender, load: loadName, shares, slices }) {
  const load = loads.find(({ name }) => name === loadName)
  if (load === undefined) throw new Error(`there is no load named ${loadName}`)
  const subject = await subjectOf(contender, { ...LIMIT, keys: load.keys })
  const traffic = load.traffic()
  const makeKeys = () => keysOf(0, load.keys).map(subject.prepare ?? ((key) => key))
  let keys = makeKeys()
  const begun = cpuSeconds()
  await subject.run(keys, inTurn(keys.length), 0, COLD)
  const cold = ((cpuSeconds() - begun) * 1e6) / COLD
  await warmUp(subject, keys.slice(-WARM_UP_KEYS))
  await subject.run(keys, inTurn(keys.length), 0, keys.length)

  /** @type {Record<string, CellResult>} */
  const results = {}
  for (const [share, { order, exhausted, allowedIn }] of Object.entries(traffic)) {
    for (const index of exhausted) await subject.exhaust(keys[index])
    if (!shares.includes(/** @type {any} */ (share))) continue
    globalThis.gc?.()
    let at = 0
    let allowed = 0
    const run = async (/** @type {number} */ count) => {
      if (load.isFresh === true) keys = makeKeys()
      const before = cpuSeconds()
      allowed += await subject.run(keys, order, at, at + count)
      at += count
      return (cpuSeconds() - before) / count
    }
    const perSlice = load.isFresh === true ? ONCE : await decisionsFor(SLICE_SECONDS, run)
    // The compiler has seen new strings before the clock runs.
    if (load.isFresh === true) for (let i = 0; i < WARM_SLICES; i++) await run(perSlice)
    const rates = []
    for (let i = 0; i < slices; i++) rates.push(1 / (await run(perSlice)))
    const expected = allowedIn(0, at)
    if (Math.abs(allowed - expected) > at / 1000) {
      throw new Error(
        `${contender}, ${loadName}, ${share}: ${allowed} of ${at} allowed, not ${expected}`,
      )
    }
    results[share] = { rate: median(rates), best: Math.max(...rates) }
  }
  return { cold, shares: results }
}

/** Allowed and refused in turn, so that the compiler has seen both before the clock runs. @param {import('./contenders.mjs').Subject} subject @param {unknown[]} keys */
async function warmUp(subject, keys) {
  const order = inTurn(keys.length)
  await subject.run(keys, order, 0, 10_000)
  for (const key of keys.slice(keys.length / 2)) await subject.exhaust(key)
  for (let i = 0; i < 5; i++) await subject.run(keys, order, 0, 10_000)
}

/**
 * How many decisions take about so many CPU seconds, found by running ever more. A full collection drops
 * compiled code whose objects are all gone; this brings it back before the clock runs.
 * @param {number} seconds @param {(count: number) => Promise<number>} run */
async function decisionsFor(seconds, run) {
  let count = 4096
  let each = await run(count)
  while (each * count < seconds && count < SLICE_DECISIONS) {
    count *= 2
    each = await run(count)
  }
  return Math.min(Math.ceil(seconds / each), SLICE_DECISIONS)
}

reportToParent(await measure(inputFromParent()))
