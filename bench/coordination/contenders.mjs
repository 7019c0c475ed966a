// The limiters that are compared: one rule, one hot key that is never refused.
import { Redis } from 'ioredis'
import { createLimiter, memoryStore } from 'sluice'
import { withCoordination } from 'sluice/coordination'
import { ioredisOptions, redisStore } from 'sluice/redis'

/** What each cell of the table measures: where it counts, and whether it asks for the answer at once. */
export const CELLS = /** @type {const} */ ([
  { name: 'memory', kind: 'memory', atOnce: true },
  { name: 'leased, checkNow', kind: 'leased', atOnce: true },
  { name: 'leased, check', kind: 'leased', atOnce: false },
  { name: 'strict, check', kind: 'strict', atOnce: false },
])

/** @typedef {(typeof CELLS)[number]} Cell */

const limit = /** @type {const} */ ('1000000000/s')
const rule = { name: 'api', by: ['user'], limit, onStoreFailure: /** @type {const} */ ('closed') }
const USER = { user: 'ada' }

/** @typedef {import('sluice').Decision} Decision */

/**
 * The two ways to a decision: at once, undefined when that is not possible, and by promise.
 * @param {Cell['kind']} kind
 * @param {number} port of the server
 * @returns {{ now: () => Decision | undefined, later: () => Promise<Decision> }}
 */
export function contender(kind, port) {
  if (kind === 'memory') {
    const limiter = createLimiter({
      policy: { name: 'bench', rules: [rule] },
      store: memoryStore(),
    })
    return { now: () => limiter.check(USER), later: async () => limiter.check(USER) }
  }
  const client = new Redis(ioredisOptions({ host: '127.0.0.1', port }))
  const store = withCoordination(redisStore(client, { timeout: 1000, onWarning: () => {} }))
  const rules = [{ ...rule, coordination: kind }]
  const policy = { name: 'bench', rules }
  const limiter = createLimiter({ policy, store, resilience: { onEvent() {} } })
  return { now: () => limiter.checkNow(USER), later: () => limiter.check(USER) }
}
