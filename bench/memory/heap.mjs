// What many keys weigh and what it costs to insert them: one contender in a process of its own.
import { setImmediate as turn } from 'node:timers/promises'
import { inputFromParent, reportToParent } from '../lib/child.mjs'
import { cpuSeconds } from '../lib/cpu.mjs'
import { heapBytes, insert, pauses } from './insertion.mjs'
import { subjectOf } from './contenders.mjs'

/** @typedef {{ keys: number, bytesPerKey: number, insertsPerSecond: number, cold: number, pause: number, timers: number }} HeapResult pauses in CPU milliseconds of the main thread; `cold`: among the first thousands of keys */

/** @param {{ contender: string, keys: number }} input @returns {Promise<HeapResult>} */
async function measure({ contender, keys }) {
  const timers = countTimers()
  const settings = { burst: 5, quota: 5, window: 60 * 60 * 1000, keys }
  const before = heapBytes()
  const subject = await subjectOf(contender, settings)
  const measured = pauses()
  const start = cpuSeconds()
  await insert(subject, keys, measured)
  const seconds = cpuSeconds() - start
  await turn()
  const bytes = heapBytes() - before
  // The limiter is asked once more, so that it cannot have been collected before it was weighed.
  await insert(subject, 1000, pauses())
  return {
    keys,
    bytesPerKey: bytes / keys,
    insertsPerSecond: keys / seconds,
    cold: measured.cold(),
    pause: measured.longest(),
    timers: timers(),
  }
}

/** Counts timers that were started and not cleared from here on. */
function countTimers() {
  let live = 0
  const { setTimeout, setInterval, clearTimeout, clearInterval } = globalThis
  const started =
    (/** @type {Function} */ start) =>
    (/** @type {unknown[]} */ ...args) => {
      live += 1
      return start(...args)
    }
  const cleared = (/** @type {Function} */ clear) => (/** @type {unknown} */ timer) => {
    if (timer !== undefined) live -= 1
    clear(timer)
  }
  Object.assign(globalThis, {
    setTimeout: started(setTimeout),
    setInterval: started(setInterval),
    clearTimeout: cleared(clearTimeout),
    clearInterval: cleared(clearInterval),
  })
  return () => live
}

reportToParent(await measure(inputFromParent()))
