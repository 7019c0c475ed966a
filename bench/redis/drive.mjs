// Keeps a number of decisions in flight: as soon as one is answered, the next is asked for.

const SAMPLES = 2 ** 20

/** @typedef {{ answered: number, allowed: number, seconds: number, p50: number, p99: number }} Driven latencies in milliseconds */

const isTrue = (/** @type {unknown} */ answer) => answer === true

/**
 * @template K
 * @param {import('./contenders.mjs').Subject<K>} subject
 * @param {readonly K[]} keys asked for in turn
 * @param {{ inFlight: number, seconds?: number, decisions?: number }} until whichever comes first
 * @returns {Promise<Driven>}
 */
export async function drive(subject, keys, { inFlight, seconds = 60, decisions = Infinity }) {
  const latencies = new Float64Array(SAMPLES)
  const isAllowed = subject.isAllowed ?? isTrue
  let asked = 0
  let answered = 0
  let allowed = 0
  const start = performance.now()
  const end = start + seconds * 1000
  const one = async () => {
    let now = performance.now()
    while (now < end && asked < decisions) {
      const key = /** @type {K} */ (keys[asked++ % keys.length])
      if (isAllowed(await subject.decide(key))) allowed += 1
      const then = now
      now = performance.now()
      latencies[answered++ % SAMPLES] = now - then
    }
  }
  await Promise.all(Array.from({ length: inFlight }, one))
  const sorted = latencies.subarray(0, Math.min(answered, SAMPLES)).sort()
  const percentile = (/** @type {number} */ share) =>
    sorted[Math.floor(share * sorted.length)] ?? NaN
  return {
    answered,
    allowed,
    seconds: (performance.now() - start) / 1000,
    p50: percentile(0.5),
    p99: percentile(0.99),
  }
}
