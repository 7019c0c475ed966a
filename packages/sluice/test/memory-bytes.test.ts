// What a memory store costs the process: the bytes that it reports are the bytes that it takes, whatever the keys are.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { lengthOf } from '../../../test/length.ts'
import { limit } from '../src/limit/limit.ts'
import { memoryStore } from '../src/stores/memory/memory-store.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** The long form goes beyond the most keys that a store holds by default. */
const KEYS = lengthOf(100_000, 1_080_000)
const MB = 1024 * 1024

it.each([
  ['of 16 characters', (i: number) => String(i).padStart(16, 'k')],
  [
    'of 128 characters beyond Latin-1',
    (i: number) => `${'漢'.repeat(121)}${String(i).padStart(7, '0')}`,
  ],
  ['of 1,000 characters', (i: number) => `${'k'.repeat(1000)}${i}`],
])(
  'keys %s take what the store reports, and less than 64 MB',
  (_, keyOf) => {
    const before = used()
    const store = memoryStore()
    const check = { space: 's', limit: limit('5/h'), cost: 1 }
    for (let i = 0; i < KEYS; i++) store.take([{ ...check, key: keyOf(i) }])
    const grown = used() - before
    const { bytes, keys } = store.stats()
    expect(keys).toBeGreaterThan(KEYS / 2)
    expect(bytes).toBeLessThanOrEqual(56 * MB)
    expect(grown).toBeLessThan(64_000_000)
    // The tables grow in steps, and the heap has noise of its own.
    expect(grown).toBeLessThan(1.25 * bytes + 4 * MB)
    store.close()
  },
  600_000,
)

/** Bytes of the heap and of the arrays beside it, when the garbage is gone. */
function used(): number {
  collect()
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
