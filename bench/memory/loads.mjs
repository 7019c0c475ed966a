// The traffic: which keys there are, in which order they come, and which of them are exhausted.
import { sampler, seededRandom, zipfShares } from '../lib/random.mjs'

/** Keys that see the warm-up alone, at the end of the key list. */
export const WARM_UP_KEYS = 64

/** Keys of a slice that meets each of them once; a power of two. */
export const ONCE = 2 ** 16

/** The parts of the traffic that are refused. */
const shares = /** @type {const} */ ({ allowed: 0, 'refused 95 %': 0.95, refused: 1 })

/** @typedef {keyof typeof shares} Share */

/**
 * `order` holds indices of keys and is a power of two long; `exhausted` are the indices of those keys that
 * must be without units for it, in addition to those of the shares before.
 * @typedef {{ order: Uint32Array, exhausted: readonly number[], allowedIn: (from: number, to: number) => number }} Traffic
 */

/**
 * `isFresh`: each key is a string that was just made, as off a socket; `extra`: left out of a quick run.
 * @typedef {{ name: string, keys: number, traffic: () => Record<Share, Traffic>, isFresh?: boolean, extra?: boolean }} Load
 */

/**
 * One hot key; 100,000 keys that are equally frequent; the same with new strings, and these in a rotation that meets the
 * processor's caches better; a million whose frequencies follow
 * Zipf's law with exponent 1.1.
 * @type {readonly Load[]}
 */
export const loads = [
  { name: 'hot', keys: 2 + WARM_UP_KEYS, traffic: hotKey },
  { name: '100k uniform', keys: 100_000, traffic: () => manyKeys(100_000, 0) },
  {
    name: '100k, new strings',
    keys: 100_000,
    traffic: () => manyKeys(100_000, 0, 'once'),
    isFresh: true,
  },
  {
    name: '100k, new strings in turn',
    keys: 100_000,
    traffic: () => manyKeys(100_000, 0, 'in turn'),
    isFresh: true,
  },
  { name: '1M Zipf', keys: 1_000_000, traffic: () => manyKeys(1_000_000, 1.1), extra: true },
]

/** The first key alone; a second one has units left when only most of the traffic is to be refused. */
function hotKey() {
  const random = seededRandom(1)
  const first = new Uint32Array(4096)
  const mixed = first.map(() => (random() < shares['refused 95 %'] ? 0 : 1))
  return {
    allowed: trafficOf(first, [], () => true),
    'refused 95 %': trafficOf(mixed, [0], (key) => key === 1),
    refused: trafficOf(first, [], () => false),
  }
}

/** @param {number} count @param {number} exponent 0 is uniform @param {'drawn' | 'once' | 'in turn'} [kind] each key by its share, or each once: in a random order, or as they were counted first */
function manyKeys(count, exponent, kind = 'drawn') {
  const loaded = count - WARM_UP_KEYS
  const random = seededRandom(2)
  const byRank = zipfShares(loaded, exponent)
  const rank = sampler(byRank, random)
  // Neighbours in rank must not be neighbours in memory.
  const keyOfRank = shuffled(loaded, random)
  const order =
    kind === 'drawn'
      ? new Uint32Array(2 ** 20).map(() => /** @type {number} */ (keyOfRank[rank()]))
      : kind === 'once'
        ? keyOfRank.subarray(0, ONCE)
        : Uint32Array.from({ length: ONCE }, (_, i) => i)
  const open = openKeys(byRank, keyOfRank, 1 - shares['refused 95 %'])
  const seen = new Set(order)
  const seenWhere = (/** @type {number} */ mark) => [...seen].filter((key) => open[key] === mark)
  return {
    allowed: trafficOf(order, [], () => true),
    'refused 95 %': trafficOf(order, seenWhere(0), (key) => open[key] === 1),
    refused: trafficOf(order, seenWhere(1), () => false),
  }
}

/** Marks keys of all ranks that together receive the given part of the traffic. @param {Float64Array} byRank @param {Uint32Array} keyOfRank @param {number} part */
function openKeys(byRank, keyOfRank, part) {
  const open = new Uint8Array(byRank.length)
  let opened = 0
  let total = 0
  byRank.forEach((share, rank) => {
    total += share
    if (opened + share > part * total) return
    opened += share
    open[/** @type {number} */ (keyOfRank[rank])] = 1
  })
  return open
}

/** @param {Uint32Array} order @param {readonly number[]} exhausted @param {(key: number) => boolean} isOpen @returns {Traffic} */
function trafficOf(order, exhausted, isOpen) {
  const allowedIn = (/** @type {number} */ from, /** @type {number} */ to) => {
    let allowed = 0
    for (let i = from; i < to; i++) {
      if (isOpen(/** @type {number} */ (order[i % order.length]))) allowed += 1
    }
    return allowed
  }
  return { order, exhausted, allowedIn }
}

/** 0 to count - 1 in a random order. @param {number} count @param {() => number} random */
function shuffled(count, random) {
  const numbers = Uint32Array.from({ length: count }, (_, i) => i)
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    const kept = /** @type {number} */ (numbers[i])
    numbers[i] = /** @type {number} */ (numbers[j])
    numbers[j] = kept
  }
  return numbers
}
