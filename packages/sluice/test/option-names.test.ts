// Every function with options refuses a misspelled one, and names the one that was meant.
import { createLimiter, limit, memoryStore, SluiceError } from 'sluice'
import { createBudget } from 'sluice/budgets'
import { adaptive, paced, polite, remoteLimiter } from 'sluice/client'
import { withCoordination } from 'sluice/coordination'
import { rateLimit, shed } from 'sluice/http/node'
import { redisStore } from 'sluice/redis'
import { createCallGuard, withResilience } from 'sluice/resilience'
import { expect, test } from 'vitest'

const client = { evalsha: async () => [], eval: async () => [] }
const policy = { name: 'api', rules: [{ name: 'one', by: ['user'], limit: '1/s' }] }
const store = () => redisStore(client)
/** Options with one that is misspelled, as a program without types may pass them. */
const misspelled = (options: object) => options as never

test.each<[who: string, meant: string, call: () => unknown]>([
  ['createLimiter', 'store', () => createLimiter(misspelled({ limit: '1/s', stor: 1 }))],
  ['limit', 'burst', () => limit(misspelled({ quota: 1, window: '1s', brust: 1 }))],
  ['memoryStore', 'maxKeys', () => memoryStore(misspelled({ maxKey: 1 }))],
  ['redisStore', 'prefix', () => redisStore(client, misspelled({ prefx: 'a' }))],
  ['withResilience', 'timeout', () => withResilience(store(), misspelled({ timeot: 1 }))],
  ['createCallGuard', 'timeout', () => createCallGuard(misspelled({ timeot: 1 }))],
  ['withCoordination', 'replicas', () => withCoordination(store(), misspelled({ replica: 1 }))],
  ['createBudget', 'store', () => createBudget(misspelled({ policy, stor: 1 }))],
  ['rateLimit', 'headers', () => rateLimit(misspelled({ limit: '1/s', heders: false }))],
  ['shed', 'priority', () => shed(misspelled({ priorty: () => 1 }))],
  ['polite', 'attempts', () => polite(fetch, misspelled({ attemps: 1 }))],
  ['paced', 'maxWait', () => paced('1/s', misspelled({ maxWai: 1 }))],
  ['adaptive', 'maxWait', () => adaptive(fetch, misspelled({ maxWai: 1 }))],
  [
    'remoteLimiter',
    'timeout',
    () => remoteLimiter('http://127.0.0.1:1', misspelled({ timeot: 1 })),
  ],
])('%s asks whether %s was meant', (who, meant, call) => {
  let thrown: unknown
  try {
    call()
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(SluiceError)
  expect((thrown as Error).message).toContain(who)
  expect((thrown as Error).message).toContain(`did you mean ${meant}? accepted: `)
})
