// Keys that were cut from long headers: the memory store keeps their text, never the header.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { rateLimit } from '../src/http/fetch.ts'
import { createLimiter } from '../src/limiter/create-limiter.ts'
import { limit } from '../src/limit/limit.ts'
import { memoryStore } from '../src/stores/memory/memory-store.ts'
import { fakeClock } from '../src/testing/fake-clock.ts'

const KEYS = 4000
const HEADER = 16_384

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

it.each(['token-bucket', 'sliding-log'] as const)(
  'a key that is a slice of a header does not keep the header alive (%s)',
  (algorithm) => {
    const store = memoryStore({ clock: fakeClock(1_800_000_000_000) })
    const check = { space: 's', limit: limit({ algorithm, quota: 5, window: '1h' }), cost: 1 }
    const before = heap()
    for (let i = 0; i < KEYS; i++) {
      const header = Buffer.alloc(HEADER, `${i}`.padStart(40, '.'))
      store.take([{ ...check, key: header.toString('latin1').slice(80, 120) }])
    }
    const grown = heap() - before
    expect(store.stats().keys).toBe(KEYS)
    // 32 recent keys may each keep one header; all of them would keep 64 MB.
    expect(grown).toBeLessThan(8 * 1024 * 1024)
    store.close()
  },
)

it('a key that an adapter is given as a slice of a header does not keep the header alive either', async () => {
  const store = memoryStore({ clock: fakeClock(1_800_000_000_000) })
  const policy = { name: 'api', rules: [{ name: 'users', by: ['user'], limit: '5/h' }] }
  const limiter = createLimiter({ policy, store })
  const handle = rateLimit(limiter, {
    user: (request) => request.headers.get('x-long')!.slice(80, 120),
  })(() => new Response('ok'))
  const ask = async (i: number): Promise<void> => {
    const header = String(i)
      .padStart(40, '.')
      .repeat(HEADER / 40)
    await handle(new Request('http://host/', { headers: { 'x-long': header } }))
  }
  for (let i = 0; i < 100; i++) await ask(i)
  const before = heap()
  for (let i = 100; i < KEYS / 2; i++) await ask(i)
  expect(store.stats().keys).toBe(KEYS / 2)
  // All headers would be 31 MB.
  expect(heap() - before).toBeLessThan(8 * 1024 * 1024)
  store.close()
})

function heap(): number {
  collect()
  collect()
  return process.memoryUsage().heapUsed
}
