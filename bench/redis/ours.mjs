// Sluice as applications call it: with its default options, on clients made as our guide says.
import { createLimiter } from 'sluice'
import { ioredisOptions, nodeRedisOptions, redisStore } from 'sluice/redis'
import * as clients from './clients.mjs'

/** @typedef {import('./contenders.mjs').Settings} Settings */
/** @typedef {import('./contenders.mjs').ClientName} ClientName */

/** @type {Readonly<Record<ClientName, (url: string) => Promise<import('sluice/redis').RedisClient>>>} */
const connect = {
  ioredis: (url) => clients.ioredis(url, ioredisOptions()),
  iovalkey: (url) => clients.iovalkey(url, ioredisOptions()),
  nodeRedis: (url) => clients.nodeRedis(url, nodeRedisOptions()),
  valkeyGlide: clients.valkeyGlide,
}

/** One limit. @param {ClientName} client */
export const oneLimit = (client) => async (/** @type {Settings} */ settings) => {
  const store = redisStore(await connect[client](settings.url))
  const limiter = createLimiter({ limit: limitFor(settings), store })
  return { decide: (/** @type {string} */ key) => limiter.check(key), isAllowed }
}

/** A policy by user, by address, and by route and user. @param {Settings} settings */
export async function threeLimits(settings) {
  const limit = limitFor(settings)
  const rules = [
    { name: 'user', by: ['user'], limit },
    { name: 'address', by: ['ip'], limit },
    { name: 'route', by: ['route', 'user'], limit },
  ]
  const store = redisStore(await connect.ioredis(settings.url))
  const limiter = createLimiter({ policy: { name: 'api', rules }, store })
  return {
    decide: (/** @type {ReturnType<typeof requestOf>} */ request) => limiter.check(request),
    isAllowed,
    prepare: requestOf,
  }
}

/** A decision without the store is not what is measured. @param {import('sluice').Decision} decision */
function isAllowed({ allowed, degraded }) {
  if (degraded) throw new Error('the fallback answered: Redis was later than the deadline')
  return allowed
}

/** @param {Settings} settings */
function limitFor({ burst, quota, window }) {
  return { algorithm: /** @type {const} */ ('token-bucket'), burst, quota, window }
}

/** A request whose user, address and route all follow from the key. @param {string} key */
function requestOf(key) {
  const number = Number(key.slice(-8))
  const bytes = [number >>> 24, (number >>> 16) & 255, (number >>> 8) & 255, number & 255]
  return { user: key, ip: bytes.join('.'), route: `GET /v1/orders/${number % 8}` }
}
