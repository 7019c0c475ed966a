// Everybody who is measured: ours, the peers and the floors, behind one small interface.

/**
 * What a limiter is made for. Buckets hold `burst` and refill `quota` per window; window counters allow
 * `burst` per window.
 * @typedef {object} Settings
 * @property {string} url of the server
 * @property {number} burst
 * @property {number} quota
 * @property {number} window whole seconds, in milliseconds
 */

/**
 * One limiter under test. What an application awaits is what `decide` returns: an async function around it would cost a
 * batched decision a tenth of its time.
 * @template [K=any]
 * @typedef {object} Subject
 * @property {(key: K) => Promise<any>} decide
 * @property {(answer: any) => boolean} [isAllowed] reads an answer that is no boolean
 * @property {(key: string) => K} [prepare] what `decide` takes in place of the key
 */

/**
 * @typedef {object} Contender
 * @property {string} name
 * @property {'ours' | 'peer' | 'floor'} kind
 * @property {boolean} [extra] the same on another client, so that a quick run leaves it out
 * @property {() => Promise<(settings: Settings) => Promise<Subject>>} load imports only what this contender needs
 */

/** @typedef {keyof typeof import('./clients.mjs')} ClientName */

/** @param {string} title @param {ClientName} client @param {boolean} [extra] @returns {Contender} */
const ours = (title, client, extra = true) => ({
  name: `sluice, ${title}`,
  kind: 'ours',
  extra,
  load: async () => (await import('./ours.mjs')).oneLimit(client),
})

export const ONE_LIMIT = 'sluice, ioredis'
export const THREE_LIMITS = 'sluice, ioredis, three limits'
export const ONE_EACH = 'floor, ioredis, one each'
export const BATCHED = 'floor, ioredis, batched'
export const BATCHED_THREE = 'floor, ioredis, batched, three keys'

/** @type {readonly Contender[]} */
export const contenders = [
  ours('ioredis', 'ioredis', false),
  {
    name: THREE_LIMITS,
    kind: 'ours',
    load: async () => (await import('./ours.mjs')).threeLimits,
  },
  {
    name: 'rate-limiter-flexible',
    kind: 'peer',
    load: async () => (await import('./peers/rate-limiter-flexible.mjs')).rateLimiterFlexible,
  },
  {
    name: 'rate-limit-redis',
    kind: 'peer',
    load: async () => (await import('./peers/rate-limit-redis.mjs')).rateLimitRedis,
  },
  {
    name: '@fastify/rate-limit',
    kind: 'peer',
    load: async () => (await import('./peers/fastify-rate-limit.mjs')).fastifyRateLimit,
  },
  {
    name: ONE_EACH,
    kind: 'floor',
    load: async () => (await import('./floors.mjs')).oneEach,
  },
  {
    name: BATCHED,
    kind: 'floor',
    load: async () => (await import('./floors.mjs')).batched,
  },
  {
    name: BATCHED_THREE,
    kind: 'floor',
    load: async () => (await import('./floors.mjs')).batchedThree,
  },
  ours('iovalkey', 'iovalkey'),
  ours('node-redis', 'nodeRedis'),
  ours('valkey-glide', 'valkeyGlide'),
]

/** Makes the contender of a name. @param {string} name @param {Settings} settings @returns {Promise<Subject>} */
export async function subjectOf(name, settings) {
  const contender = contenders.find((contender) => contender.name === name)
  if (contender === undefined) throw new Error(`there is no contender named ${name}`)
  return (await contender.load())(settings)
}
