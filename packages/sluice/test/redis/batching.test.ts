// How requests travel: all of one turn together, each answered by itself, and the text of the script only when it is missing.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startRedis, type RedisServer } from '../../../../test/servers/redis-server.ts'
import type { Store } from '../../src/stores/store.ts'
import { left, nothingUnhandled, on, patientStore, takeOne } from './asking.ts'
import { standalone, type Connected } from './clients.ts'
import { commandCounts, resetCounts } from './command-counts.ts'
import { everyKeyExpires } from './keys-expire.ts'

let server: RedisServer
nothingUnhandled()
beforeAll(async () => {
  server = await startRedis()
}, 30_000)
afterAll(() => server.stop())
everyKeyExpires(() => [server])

const pause = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

describe.each(Object.entries(standalone))('through %s', (name, open) => {
  let connected: Connected
  let store: Store
  let number = 0
  beforeAll(async () => {
    connected = await open(server)
  }, 30_000)
  afterAll(() => connected.close())
  beforeEach(async () => {
    store = patientStore(connected.client, { prefix: `${name.replaceAll(' ', '')}${++number}:` })
    // It learns the server's time and settings with its first calls, and the server all scripts.
    await store.take([on('first', '1/400d')])
    await store.take([on('second', '1/400d'), on('third', '1/400d')])
    await store.peek([on('first', '1/400d')])
    await store.peek([on('first', '1/400d')])
    await resetCounts(server)
  })

  it.each([
    [1, 1],
    [2, 1],
    [64, 1],
    [65, 2],
    [128, 2],
    [1000, 16],
  ])('%d takes of one turn are %d calls', async (takes, calls) => {
    const checks = Array.from({ length: takes }, (_, i) => on(`key ${i}`, '5/400d'))
    const verdicts = await Promise.all(checks.map((check) => takeOne(store, check)))
    expect(verdicts.map(({ remaining }) => remaining)).toEqual(checks.map(() => 4))
    const { evalsha, eval: texts = 0 } = await commandCounts(server)
    expect({ evalsha, texts }).toEqual({ evalsha: calls, texts: 0 })
  })

  it('64 takes after the answer to a large call are two calls, so that the server need not wait', async () => {
    const checks = Array.from({ length: 64 }, (_, i) => on(`key ${i}`, '5/400d'))
    await Promise.all(checks.map((check) => takeOne(store, check)))
    expect((await commandCounts(server))['evalsha']).toBe(1)
    const verdicts = await Promise.all(checks.map((check) => takeOne(store, check)))
    expect(verdicts.map(({ remaining }) => remaining)).toEqual(checks.map(() => 3))
    expect((await commandCounts(server))['evalsha']).toBe(3)
  })

  it('requests of several checks travel together as long as they are 64 checks or fewer', async () => {
    const three = (i: number) => ['a', 'b', 'c'].map((part) => on(`${part} ${i}`, '5/400d'))
    await Promise.all(Array.from({ length: 21 }, async (_, i) => store.take(three(i))))
    expect((await commandCounts(server))['evalsha']).toBe(1)
    await Promise.all(Array.from({ length: 22 }, async (_, i) => store.take(three(i))))
    expect((await commandCounts(server))['evalsha']).toBe(3)
  })

  it('requests of one to three limits, all different, are distinguished in one call', async () => {
    const requests = Array.from({ length: 30 }, (_, i) =>
      Array.from({ length: 1 + (i % 3) }, (_, j) =>
        on(`${i} ${j}`, { quota: 2 + i, window: '400d' }, { burst: 5 + j, cost: 1 + (i % 5) }),
      ),
    )
    const all = await Promise.all(requests.map(async (checks) => store.take(checks)))
    expect(all.map((verdicts) => verdicts.map(({ remaining }) => remaining))).toEqual(
      requests.map((checks) => checks.map(({ limit, cost }) => limit.burst - cost)),
    )
    expect((await commandCounts(server))['evalsha']).toBe(1)
  })

  it('one request of more checks than a batch is still one call, all or none', async () => {
    const checks = Array.from({ length: 200 }, (_, i) => on(`${i}`, '5/400d'))
    await store.take(checks)
    expect((await commandCounts(server))['evalsha']).toBe(1)
    const verdicts = await store.take([...checks, on('last', '0/400d')])
    expect(verdicts.at(-1)?.allowed).toBe(false)
    expect(await left(store, ...checks)).toEqual(checks.map(() => 4))
  })

  it('takes of one key in one turn are decided in the order in which they were asked', async () => {
    const verdicts = await Promise.all(
      Array.from({ length: 100 }, () => takeOne(store, on('same', '70/400d'))),
    )
    const expected = Array.from({ length: 100 }, (_, i) => [i < 70, Math.max(0, 69 - i)])
    expect(verdicts.map((v) => [v.allowed, v.remaining])).toEqual(expected)
    expect((await commandCounts(server))['evalsha']).toBe(2)
  })

  it('takes, peeks, gives and resets of one turn see each other in order', async () => {
    const check = on('mixed', '5/400d')
    const answers = await Promise.all([
      takeOne(store, { ...check, cost: 3 }),
      left(store, check),
      store.refund([{ ...check, cost: 2 }]),
      left(store, check),
      store.reset([check]),
      takeOne(store, check),
    ])
    expect([answers[0].remaining, answers[1], answers[3], answers[5].remaining]).toEqual([
      2,
      [2],
      [4],
      4,
    ])
    expect((await commandCounts(server))['evalsha']).toBe(1)
  })

  it('a request goes out in its own turn when nothing is on its way', async () => {
    for (let i = 0; i < 5; i++) await takeOne(store, on('alone', '100/400d'))
    expect((await commandCounts(server))['evalsha']).toBe(5)
  })

  it('requests of different turns do not wait for each other', async () => {
    const first = takeOne(store, on('turns', '100/400d'))
    await pause()
    const second = takeOne(store, on('turns', '100/400d'))
    await pause()
    const third = takeOne(store, on('turns', '100/400d'))
    const all = await Promise.all([first, second, third])
    expect(all.map(({ remaining }) => remaining)).toEqual([99, 98, 97])
  })
})

describe.each(Object.entries(standalone))(
  'a script that the server forgot, through %s',
  (name, open) => {
    it('is sent once more, and nothing else is', async () => {
      const { client, close } = await open(server)
      const store = patientStore(client, { prefix: `${name.replaceAll(' ', '')}:` })
      // The first answer lets the store ask for the server's settings, once.
      await takeOne(store, on('first', '1/400d'))
      await store.peek([on('first', '1/400d')])
      await resetCounts(server)
      await server.cli('SCRIPT', 'FLUSH')
      await takeOne(store, on('a', '1000/400d'))
      const counts = await commandCounts(server)
      expect({ evalsha: counts['evalsha'], eval: counts['eval'] }).toEqual({ evalsha: 1, eval: 1 })
      await takeOne(store, on('a', '1000/400d'))
      const after = await commandCounts(server)
      expect({ evalsha: after['evalsha'], eval: after['eval'] }).toEqual({ evalsha: 2, eval: 1 })
      expect(await left(store, on('a', '1000/400d'))).toEqual([998])
      await close()
    }, 30_000)

    it('ten times under load costs no error and no unit', async () => {
      const { client, close } = await open(server)
      const store = patientStore(client, { prefix: `${name.replaceAll(' ', '')}load:` })
      const check = on('a', '100000/400d', { algorithm: 'fixed-window' })
      await resetCounts(server)
      let taken = 0
      let isOver = false
      const load = Array.from({ length: 8 }, async () => {
        while (!isOver) {
          expect((await takeOne(store, check)).allowed).toBe(true)
          taken += 1
        }
      })
      for (let i = 0; i < 10; i++) {
        const before = taken
        await server.cli('SCRIPT', 'FLUSH')
        while (taken < before + 50) await pause()
      }
      isOver = true
      await Promise.all(load)
      expect(await left(store, check)).toEqual([100_000 - taken])
      // Nothing but the text of a script that was missing went out a second time.
      const counts = await commandCounts(server)
      expect(counts['eval'] ?? 0).toBeLessThanOrEqual(10 * 8 + 8)
      expect(counts['eval'] ?? 0).toBeGreaterThan(0)
      await close()
    }, 60_000)
  },
)
