// The works that two checkouts are compared by. They use only what every edition has.
import { once } from 'node:events'
import { Agent, request as requestOf } from 'node:http'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { driver } from '../http/drive.mjs'
import { seededRandom } from '../lib/random.mjs'
import { startRedisServer } from '../lib/redis-server.mjs'
import { loads } from '../service/loads.mjs'
import { startServer } from '../service/servers.mjs'

/** @typedef {(path: string) => Promise<any>} Load */
/** @typedef {{ operations: number, turn: () => unknown, cpu?: () => number, stop?: () => unknown }} Work */

const KEYS = 100_000
/** Checks of a hot key in one turn: enough that the compiler's own work does not show. */
const HOT = 4_000_000
const limit = '1000000000/min'
const RULES = {
  name: 'api',
  rules: ['ip', 'user', 'tenant'].map((name) => ({ name: `per-${name}`, by: [name], limit })),
}

/** Places of keys in a random order that is the same in every run. @param {number} count @param {number} keys */
function randomPlaces(count, keys) {
  const random = seededRandom(7)
  return Uint32Array.from({ length: count }, () => Math.floor(random() * keys))
}

/**
 * Checks whose answer is read, as callers do: V8 leaves out making a decision that nobody reads.
 * @param {(limiter: any) => (i: number) => { allowed: boolean }} checkOf @param {object} [options] @param {number} [operations]
 */
function inMemory(checkOf, options = { limit }, operations = 400_000) {
  return async (/** @type {Load} */ load) => {
    const { createLimiter } = await load('sluice/dist/index.js')
    const check = checkOf(createLimiter(options))
    let allowed = 0
    const turn = () => {
      for (let i = 0; i < operations; i++) if (check(i).allowed) allowed++
      return allowed
    }
    return { operations, turn }
  }
}

/** @param {(i: number) => object} attributesOf */
const threeRules = (attributesOf) =>
  inMemory((limiter) => (i) => limiter.check(attributesOf(i)), { policy: RULES }, 200_000)

/** @param {number} callers @param {boolean} areKept */
function callersOf(callers, areKept) {
  const places = randomPlaces(200_000, callers)
  const make = (/** @type {number} */ at) => ({
    ip: `10.0.${at >> 8}.${at & 255}`,
    user: `user:${at}`,
    tenant: `tenant:${at % 50}`,
  })
  const kept = areKept ? Array.from({ length: callers }, (_, at) => make(at)) : []
  return (/** @type {number} */ i) => kept[places[i] ?? 0] ?? make(places[i] ?? 0)
}

/** @param {string} name @param {(rateLimit: any, packages: (name: string) => Promise<any>) => Promise<any>} listenerOf */
function adapter(name, listenerOf) {
  return async (/** @type {Load} */ load, /** @type {string} */ folder) => {
    const { rateLimit } = await load(`sluice/dist/http/${name}.js`)
    const there = createRequire(`${folder}/package.json`)
    const packages = (/** @type {string} */ name) => import(pathToFileURL(there.resolve(name)).href)
    const send = driver(await listenerOf(rateLimit({ limit }), packages), {
      connections: 64,
      dual: false,
    })
    return { operations: 20_000, turn: () => send(20_000) }
  }
}

/** @param {number} inFlight @param {number} operations */
function onRedis(inFlight, operations) {
  return async (/** @type {Load} */ load, /** @type {string} */ folder) => {
    const server = await startRedisServer()
    const there = createRequire(`${folder}/packages/server/package.json`)
    const { Redis } = await import(pathToFileURL(there.resolve('ioredis')).href)
    const client = new Redis(server.port, '127.0.0.1', {
      enableOfflineQueue: true,
      commandTimeout: 5000,
    })
    await client.ping()
    const { createLimiter } = await load('sluice/dist/index.js')
    const { redisStore } = await load('sluice/dist/redis/index.js')
    const store = redisStore(client, { timeout: 5000, onWarning: () => {} })
    const limiter = createLimiter({ limit, store })
    const places = randomPlaces(operations, 10_000)
    const turn = () => allOf(inFlight, operations, (i) => limiter.check(`user:${places[i]}`))
    return { operations, turn, stop: () => server.stop() }
  }
}

/** So many at a time until all are done. @param {number} width @param {number} count @param {(i: number) => Promise<unknown>} one */
async function allOf(width, count, one) {
  let next = 0
  const lane = async () => {
    while (next < count) await one(next++)
  }
  await Promise.all(Array.from({ length: width }, lane))
}

/** Checks of a store that never answers: the breaker opens, and the fallback answers. @param {Load} load @returns {Promise<Work>} */
async function hanging(load) {
  const { createLimiter } = await load('sluice/dist/index.js')
  const never = () => new Promise(() => {})
  const store = { take: never, peek: never, refund: never, reset: never, close: () => {} }
  const resilience = { timeout: 20, onEvent: () => {} }
  const limiter = createLimiter({ limit, store, resilience })
  const operations = 100_000
  const places = randomPlaces(operations, 10_000)
  const turn = () => allOf(64, operations, (i) => limiter.check(`user:${places[i]}`))
  return { operations, turn }
}

/** First checks: each limiter meets a store that never answers for the first time. @param {Load} load @returns {Promise<Work>} */
async function firstHanging(load) {
  const { createLimiter } = await load('sluice/dist/index.js')
  const never = () => new Promise(() => {})
  const store = { take: never, peek: never, refund: never, reset: never, close: () => {} }
  const operations = 1000
  const turn = () =>
    Promise.all(
      Array.from({ length: operations }, async (_, i) => {
        const resilience = { timeout: 20, onEvent: () => {} }
        const limiter = createLimiter({ limit, store, resilience })
        await limiter.check(`user:${i}`)
        await limiter.close()
      }),
    )
  return { operations, turn }
}

/** A load of `bench/service` in so many calls. @param {string} name @param {number} calls */
function service(name, calls) {
  return async (/** @type {Load} */ _, /** @type {string} */ folder) => {
    const config = fileURLToPath(new URL('../service/sluice.yaml', import.meta.url))
    const command = [`${folder}/packages/cli/dist/main.js`, 'serve', config]
    const server = await startServer(command, undefined)
    const agent = new Agent({ keepAlive: true, maxSockets: 16 })
    const load = loads.find((one) => one.name === name)
    if (load === undefined) throw new Error(`no load ${name}`)
    const bodies = Array.from({ length: 1000 }, (_, i) => JSON.stringify(load.body(i)))
    const one = async (/** @type {number} */ i) => {
      const status = await post(`${server.url}/v1/check`, agent, bodies[i % bodies.length] ?? '')
      if (status !== 200) throw new Error(`the service answered ${status}`)
    }
    return {
      operations: calls * load.decisions,
      turn: () => allOf(16, calls, one),
      cpu: server.cpuSeconds,
      stop: () => server.stop(),
    }
  }
}

/** The status of the answer. @param {string} url @param {Agent} agent @param {string} body */
async function post(url, agent, body) {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const request = requestOf(url, { method: 'POST', agent, headers }).end(body)
  const [response] = await once(request, 'response')
  response.resume()
  await once(response, 'end')
  return response.statusCode
}

const PLACES = randomPlaces(400_000, KEYS)
const kept = Array.from({ length: KEYS }, (_, i) => `user:${i}`)
const keptCallers = callersOf(1000, true)
const newCallers = callersOf(1000, false)
const manyCallers = callersOf(KEYS, false)

/** @type {Record<string, (load: Load, folder: string) => Promise<Work>>} */
export const works = {
  'memory, one hot key': inMemory((limiter) => () => limiter.check('user:42'), { limit }, HOT),
  'memory, a refused hot key': inMemory(
    (limiter) => () => limiter.check('user:42'),
    { limit: '1/day' },
    HOT,
  ),
  'memory, 100,000 keys, new strings': inMemory(
    (limiter) => (i) => limiter.check(`user:${PLACES[i]}`),
  ),
  'memory, 100,000 keys, kept strings': inMemory(
    (limiter) => (i) => limiter.check(/** @type {string} */ (kept[PLACES[i] ?? 0])),
  ),
  'memory, three rules, kept callers': threeRules(keptCallers),
  'memory, three rules, new strings': threeRules(newCallers),
  'memory, three rules, 100,000 callers': threeRules(manyCallers),
  'node:http adapter': adapter(
    'node',
    async (limit) => (/** @type {any} */ request, /** @type {any} */ response) =>
      limit(request, response, () => response.end('ok')),
  ),
  'Express adapter': adapter('express', async (limit, packages) => {
    const { default: express } = await packages('express')
    const app = express()
    app.use(limit)
    app.get('/hello', (/** @type {any} */ _, /** @type {any} */ response) => response.end('ok'))
    return app
  }),
  'Redis, one in flight': onRedis(1, 5000),
  'Redis, 64 in flight': onRedis(64, 40_000),
  'Redis, 512 in flight': onRedis(512, 80_000),
  'a store that hangs': hanging,
  'a store that hangs, first checks': firstHanging,
  'service, one check in a call': service('one check', 10_000),
  'service, three rules in a call': service('one check, three rules', 10_000),
  'service, 64 checks in a call': service('64 checks', 1500),
}
