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

/** The first stretches of a process, in which V8 interprets most of the code: what they cost is not the store's. */
const COLD = 10

/** Main-thread CPU between marks, of which there is one per turn; only the longest stretches are kept. */
export function pauses() {
  let last = NaN
  let marks = 0
  let cold = 0
  let longest = 0
  return {
    /** Begins without ending a stretch. */
    start: () => void (last = mainThreadMillis()),
    mark() {
      const now = mainThreadMillis()
      marks += 1
      if (marks <= COLD) cold = Math.max(cold, now - last)
      else longest = Math.max(longest, now - last)
      last = now
    },
    /** The longest of the first stretches, and of all later ones. */
    cold: () => cold,
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
