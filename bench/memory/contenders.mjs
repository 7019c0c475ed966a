// Everybody who is measured: ours, the peers and the floors, behind one small interface.

/**
 * What a limiter is made for. Buckets hold `burst` and refill `quota` per window; window counters allow
 * `burst` per window.
 * @typedef {object} Settings
 * @property {number} burst
 * @property {number} quota
 * @property {number} window milliseconds
 * @property {number} keys how many there will be at most
 */

/**
 * One limiter under test. `run` decides the keys `keys[order[from]]` to `keys[order[to - 1]]` (the order,
 * a power of two long, begins again at its end) and gives how many were allowed; contenders that answer by
 * promises awaits every one of them. `exhaust` leaves a key with nothing.
 * @template [K=any]
 * @typedef {object} Subject
 * @property {(keys: readonly K[], order: Uint32Array, from: number, to: number) => number | Promise<number>} run
 * @property {(key: K) => unknown} exhaust
 * @property {(key: string) => K} [prepare] what `run` and `exhaust` take in place of the key
 */

/**
 * @typedef {object} Contender
 * @property {string} name
 * @property {'ours' | 'peer' | 'floor'} kind
 * @property {boolean} [promises] answers by promises
 * @property {boolean} [sharedClock] reads the clock once for many decisions, and nothing else besides
 * @property {boolean} [extra] says little that another does not, so that a quick run leaves it out
 * @property {boolean} [aside] does more than the others, so no ratio to them is formed
 * @property {() => Promise<(settings: Settings) => Subject>} load imports only what this contender needs
 */

/** @param {string} algorithm @param {boolean} [extra] @returns {Contender} */
const ours = (algorithm, extra = false) => ({
  name: `sluice ${algorithm}`,
  kind: 'ours',
  extra,
  load: async () => (await import('./ours.mjs')).oneLimit(/** @type {any} */ (algorithm)),
})

/** @type {readonly Contender[]} */
export const contenders = [
  ours('token-bucket'),
  ours('gcra', true),
  ours('leaky-bucket', true),
  ours('fixed-window', true),
  ours('sliding-window'),
  {
    name: 'sluice sliding-log, 32 stamps',
    kind: 'ours',
    load: async () => (await import('./ours.mjs')).stampedLog,
  },
  {
    name: 'sluice token-bucket, read',
    kind: 'ours',
    extra: true,
    load: async () => (await import('./ours.mjs')).oneLimitRead,
  },
  {
    name: 'sluice three rules',
    kind: 'ours',
    aside: true,
    load: async () => (await import('./ours.mjs')).threeRules,
  },
  {
    name: 'rate-limiter-flexible',
    kind: 'peer',
    promises: true,
    load: async () => (await import('./peers/rate-limiter-flexible.mjs')).rateLimiterFlexible,
  },
  {
    name: 'express-rate-limit',
    kind: 'peer',
    promises: true,
    load: async () => (await import('./peers/express-rate-limit.mjs')).expressRateLimit,
  },
  {
    name: '@fastify/rate-limit',
    kind: 'peer',
    load: async () => (await import('./peers/fastify-rate-limit.mjs')).fastifyRateLimit,
  },
  {
    name: 'limiter',
    kind: 'peer',
    load: async () => (await import('./peers/limiter.mjs')).tryRemoveTokens,
  },
  {
    name: 'limiter, promises',
    kind: 'peer',
    extra: true,
    promises: true,
    load: async () => (await import('./peers/limiter.mjs')).removeTokens,
  },
  {
    name: 'floor map',
    kind: 'floor',
    extra: true,
    load: async () => (await import('./floors.mjs')).mapOfObjects,
  },
  {
    name: 'floor slab',
    kind: 'floor',
    load: async () => (await import('./floors.mjs')).mapAndSlab,
  },
  {
    name: 'floor map, clock/64',
    kind: 'floor',
    extra: true,
    sharedClock: true,
    load: async () => (await import('./floors.mjs')).mapOfObjectsClock64,
  },
  {
    name: 'floor slab, clock/64',
    kind: 'floor',
    sharedClock: true,
    load: async () => (await import('./floors.mjs')).mapAndSlabClock64,
  },
]

/** Makes the contender of a name. @param {string} name @param {Settings} settings @returns {Promise<Subject>} */
export async function subjectOf(name, settings) {
  const contender = contenders.find((contender) => contender.name === name)
  if (contender === undefined) throw new Error(`there is no contender named ${name}`)
  return (await contender.load())(settings)
}

/**
 * The loop for contenders that answer at once.
 * @template K
 * @param {(key: K) => boolean} decide
 * @returns {Subject<K>['run']}
 */
export function runOf(decide) {
  return (keys, order, from, to) => {
    const mask = order.length - 1
    let allowed = 0
    for (let i = from; i < to; i++) {
      if (decide(/** @type {K} */ (keys[/** @type {number} */ (order[i & mask])]))) allowed += 1
    }
    return allowed
  }
}
