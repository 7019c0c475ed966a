// Very many keys that expire at once: the store forgets them in small steps, and the memory comes back.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { lengthOf } from '../../../test/length.ts'
import { limit } from '../src/limit/limit.ts'
import { memoryStore, type MemoryStore } from '../src/stores/memory/memory-store.ts'
import { fakeClock } from '../src/testing/fake-clock.ts'

const KEYS = lengthOf(200_000, 1_000_000)
/** Keys that one turn of the event loop may forget: two ticks of the sweeper, the regular one and one that goes on. */
const MAX_FORGOTTEN = 2 * 1024

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

it('a memory store forgets expired keys in small steps and gives their memory back', async () => {
  const clock = fakeClock(1_800_000_000_000)
  const store = memoryStore({ clock, maxKeys: 2 * KEYS })
  const before = await memory()

  const check = { space: 'space', limit: limit('5/min'), cost: 1 }
  for (let i = 0; i < KEYS; i++) store.take([{ ...check, key: `key:${i}` }])
  expect(store.stats().keys).toBe(KEYS)
  const grown = (await memory()) - before

  clock.advance(60_000)
  expect(await longestStep(store)).toBeLessThanOrEqual(MAX_FORGOTTEN)
  const kept = (await memory()) - before
  store.close()

  console.log(
    `${(grown / KEYS).toFixed(0)} bytes a key, ${((100 * kept) / grown).toFixed(1)} % kept`,
  )
  expect(kept).toBeLessThan(0.1 * grown)
})

/** Lets the store's own timer forget everything; returns the most keys that one turn of the event loop forgot. */
async function longestStep(store: MemoryStore): Promise<number> {
  let longest = 0
  for (let { keys } = store.stats(); keys > 0;) {
    await turn()
    const left = store.stats().keys
    longest = Math.max(longest, keys - left)
    keys = left
  }
  return longest
}

/** One turn of the event loop, in which the timers run that are due. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Bytes in use. What a collection frees outside the heap is counted off a little later, hence the turns. */
async function memory(): Promise<number> {
  for (let i = 0; i < 4; i++) {
    collect()
    await turn()
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
