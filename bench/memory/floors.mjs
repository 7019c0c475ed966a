// The floors: the least code that can be called a limiter, as a measure of what is possible at all.
// None checks its arguments, forgets a key or says more than yes or no.
import { runOf } from './contenders.mjs'

/** @typedef {import('./contenders.mjs').Settings} Settings */
/** @typedef {import('./contenders.mjs').Subject<string>} Subject */

/** The clock, read for every 64th decision. */
function every64th() {
  let now = Date.now()
  let calls = 0
  return () => ((calls++ & 63) === 0 ? (now = Date.now()) : now)
}

/** Token bucket, one object for each key. @param {Settings} settings @returns {Subject} */
export function mapOfObjects({ burst, quota, window }, clock = Date.now) {
  const perMillisecond = quota / window
  /** @type {Map<string, { tokens: number, at: number }>} */
  const buckets = new Map()
  /** @param {string} key */
  const decide = (key) => {
    const now = clock()
    let bucket = buckets.get(key)
    if (bucket === undefined) {
      bucket = { tokens: burst, at: now }
      buckets.set(key, bucket)
    } else {
      bucket.tokens = Math.min(burst, bucket.tokens + (now - bucket.at) * perMillisecond)
      bucket.at = now
    }
    if (bucket.tokens < 1) return false
    bucket.tokens -= 1
    return true
  }
  return { run: runOf(decide), exhaust: (key) => buckets.set(key, { tokens: 0, at: clock() }) }
}

/** The same with its numbers in one typed array, sized beforehand. @param {Settings} settings @returns {Subject} */
export function mapAndSlab({ burst, quota, window, keys }, clock = Date.now) {
  const perMillisecond = quota / window
  /** @type {Map<string, number>} */
  const slots = new Map()
  const slab = new Float64Array(2 * keys)
  /** @param {string} key */
  const decide = (key) => {
    const now = clock()
    let slot = slots.get(key)
    let tokens = burst
    if (slot === undefined) {
      slot = 2 * slots.size
      slots.set(key, slot)
    } else {
      const passed = now - /** @type {number} */ (slab[slot + 1])
      tokens = Math.min(burst, /** @type {number} */ (slab[slot]) + passed * perMillisecond)
    }
    const allowed = tokens >= 1
    slab[slot] = allowed ? tokens - 1 : tokens
    slab[slot + 1] = now
    return allowed
  }
  return { run: runOf(decide), exhaust: (key) => (slab[slots.get(key) ?? -1] = 0) }
}

/** @param {Settings} settings */
export const mapOfObjectsClock64 = (settings) => mapOfObjects(settings, every64th())
/** @param {Settings} settings */
export const mapAndSlabClock64 = (settings) => mapAndSlab(settings, every64th())
