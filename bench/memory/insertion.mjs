// Inserting many keys in small steps, and watching how long the event loop stands still meanwhile.
import { setImmediate as turn } from 'node:timers/promises'
import { mainThreadMillis } from '../lib/cpu.mjs'
import { inTurn, keysOf } from './keys.mjs'

/** Keys inserted between two turns of the event loop. */
const STEP = 1000

/** Heap and typed arrays in bytes, after collecting what is garbage. */
export function heapBytes() {
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** Main-thread CPU between marks, of which there is one per turn; only the longest stretch is kept. */
export function pauses() {
  let last = NaN
  let longest = 0
  return {
    /** Begins without ending a stretch. */
    start: () => void (last = mainThreadMillis()),
    mark() {
      const now = mainThreadMillis()
      longest = Math.max(longest, now - last)
      last = now
    },
    longest: () => longest,
  }
}

/** Asks once about each of the first keys. @param {import('./contenders.mjs').Subject} subject @param {number} count @param {ReturnType<typeof pauses>} watch */
export async function insert(subject, count, watch) {
  const order = inTurn(STEP)
  for (let from = 0; from < count; from += STEP) {
    const keys = keysOf(from, from + STEP).map(subject.prepare ?? ((key) => key))
    await turn()
    watch.start()
    await subject.run(keys, order, 0, STEP)
    await turn()
    watch.mark()
  }
}
