// A limiter that was replaced is not kept: neither by the registry nor by the limiters that came after it.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createLimiter, memoryStore, parsePolicy } from 'sluice'
import { expect, onTestFinished, test } from 'vitest'
import { LimiterRegistry } from './registry.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const policies = (quota: number) => [
  parsePolicy({ name: 'api', rules: [{ name: 'all', by: ['key'], limit: `${quota}/min` }] }),
]

test('keeps no limiters but those in force', async () => {
  const store = memoryStore()
  onTestFinished(() => store.close())
  const registry = new LimiterRegistry(policies(1), (policy) => createLimiter({ policy, store }))
  const replaced: WeakRef<object>[] = []
  for (let quota = 2; quota < 12; quota++) {
    replaced.push(new WeakRef(registry.current.byName.get('api')!))
    registry.swap(policies(quota))
  }
  // What a WeakRef was made of is kept until the turn ends.
  await new Promise(setImmediate)
  collect()
  expect(replaced.filter((limiter) => limiter.deref() !== undefined)).toEqual([])
  expect(registry.current.generation).toBe(11)
})
