import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { limit, memoryStore, type Check, type StoreEvent } from 'sluice'
import { fakeClock, testStore } from 'sluice/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { until } from '../../../../test/servers/until.ts'
import { OwnerStore } from './owner-store.ts'
import { serveStore } from './owner-server.ts'
import { machineTime } from './owner-wire.ts'

function socketPath(): { path: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-owner-'))
  return {
    path: join(folder, 'owner'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

const check = (key: string, more: Partial<Check> = {}): Check => ({
  space: 's',
  key,
  limit: limit('3/h'),
  cost: 1,
  ...more,
})

/** An owner with some workers. */
async function owner({ workers = 1, timeout = 5000, clock = machineTime } = {}) {
  const { path, remove } = socketPath()
  const memory = memoryStore()
  let server = await serveStore(memory, path, clock)
  const stores = Array.from({ length: workers }, () => new OwnerStore(path, timeout))
  onTestFinished(async () => {
    await Promise.all(stores.map((store) => store.close()))
    await server.close()
    memory.close()
    remove()
  })
  for (const store of stores) expect(await store.connected(5000)).toBe(true)
  return {
    path,
    memory,
    stores,
    store: stores[0]!,
    hangUp: () => server.close(),
    comeBack: async () => {
      server = await serveStore(memory, path, clock)
    },
  }
}

describe('conformance', () => {
  const cases = testStore(async () => {
    const { path, remove } = socketPath()
    const clock = fakeClock(0)
    const memory = memoryStore({ clock })
    const server = await serveStore(memory, path)
    const store = new OwnerStore(path, 5000)
    await store.connected(5000)
    return {
      store,
      advance: (millis) => clock.advance(millis),
      stop: async () => {
        await server.close()
        memory.close()
        remove()
      },
    }
  })
  it.each(cases)('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })
})

describe('many workers', () => {
  it('admit exactly the limit between them', async () => {
    const { stores } = await owner({ workers: 4 })
    const limited = check('one', { limit: limit('100/h') })
    const answers = await Promise.all(
      stores.flatMap((store) => Array.from({ length: 60 }, () => store.take([limited]))),
    )
    expect(answers.filter(([verdict]) => verdict!.allowed)).toHaveLength(100)
  })

  it('keep keys apart that look alike on the wire', async () => {
    const { store, memory } = await owner()
    const keys = ['', '"', '\\', '\0', '\n', 'é', 'e\u0301', '\uD800', '\uD801', '\uFFFD', '1']
    for (const key of keys) await store.take([check(key)])
    expect(memory.stats().keys).toBe(keys.length)
  })

  it('see a limit that changes with the next question', async () => {
    const { store } = await owner()
    await store.take([check('a')])
    const [verdict] = await store.take([check('a', { limit: limit('10/h') })])
    expect(verdict!.remaining).toBe(8)
    expect((await store.take([check('a')]))[0]!.remaining).toBe(0)
  })

  it('may bring more kinds of checks than are remembered', async () => {
    const { store, memory } = await owner({ timeout: 20_000 })
    for (let round = 0; round < 3; round++) {
      const takes = Array.from({ length: 3000 }, (_, i) =>
        store.take([check('k', { space: `s${i}`, limit: limit('2/h') })]),
      )
      const allowed = (await Promise.all(takes)).filter(([verdict]) => verdict!.allowed)
      expect(allowed).toHaveLength(round < 2 ? 3000 : 0)
    }
    expect(memory.stats().keys).toBe(3000)
  })
})

describe('an owner that is away', () => {
  it('is said to be unreachable at once, and asked again when it is back', async () => {
    const { store, hangUp, comeBack } = await owner()
    const events: StoreEvent[] = []
    store.watch((event) => events.push(event))
    const waiting = store.take([check('a')])
    const [error] = await Promise.all([waiting.catch((lost: unknown) => lost), hangUp()])
    expect(error).toMatchObject({ code: 'store-unreachable' })
    await until('it is noticed', 2000, async () => !(await store.connected(0)))
    await expect(store.take([check('a')])).rejects.toMatchObject({ transient: true })
    await comeBack()
    await until('it is back', 5000, async () => events.length > 0)
    expect(events).toEqual([{ type: 'reachable' }])
    expect((await store.take([check('b')]))[0]!.allowed).toBe(true)
  })

  it('changes nothing for questions that were given up before it saw them', async () => {
    const late = () => machineTime() + 60_000
    const { store, memory } = await owner({ clock: late })
    await expect(store.take([check('a')])).rejects.toMatchObject({ code: 'store-timeout' })
    expect(memory.stats().keys).toBe(0)
  })

  it('is given up after the timeout, and what it charged then is handed back', async () => {
    const { path, memory } = await owner()
    const slow = `${path}-slow`
    // Questions pass at once, answers take a while.
    const relay = createServer((worker) => {
      const behind = connect(path)
      worker.pipe(behind)
      behind.on('data', (chunk) => setTimeout(() => worker.write(chunk), 150))
      worker.on('close', () => behind.destroy())
    }).listen(slow)
    const store = new OwnerStore(slow, 50)
    onTestFinished(async () => {
      await store.close()
      relay.close()
    })
    expect(await store.connected(5000)).toBe(true)
    const events: StoreEvent[] = []
    store.watch((event) => events.push(event))
    const refused = store.take([check('a', { cost: 3 })])
    await expect(refused).rejects.toMatchObject({ code: 'store-timeout' })
    expect(memory.peek([check('a')])[0]!.remaining).toBe(0)
    await until('it is handed back', 5000, async () =>
      events.some((event) => event.type === 'late-answer' && event.refunded),
    )
    await until('all is free', 5000, async () => memory.peek([check('a')])[0]!.remaining === 3)
  })

  it('is hung up on when it has been closed', async () => {
    const { store } = await owner()
    await store.close()
    await expect(store.take([check('a')])).rejects.toMatchObject({ code: 'store-unreachable' })
  })
})
