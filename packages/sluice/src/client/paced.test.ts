import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { seeded } from '../../test/client/simulated-server.ts'
import { SluiceError } from '../errors.ts'
import { ALGORITHMS, limit as limitOf, type LimitInput } from '../limit/limit.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { AsyncStore } from '../stores/store.ts'
import { lengthOf } from '../../../../test/length.ts'
import { fakeTimers, type FakeTimers } from '../testing/fake-timers.ts'
import { paced, type Paced, type PacedOptions } from './paced.ts'

/** A store that answers after a while, as one across a network does. */
function remote(timers: FakeTimers, latency = 1): AsyncStore & { calls: number } {
  const inner = memoryStore({ clock: timers.clock })
  const store = {
    calls: 0,
    take: async (checks: Parameters<AsyncStore['take']>[0]) => {
      store.calls += 1
      await new Promise<void>((resolve) => void timers.set(resolve, latency))
      return inner.take(checks)
    },
    peek: async (checks: Parameters<AsyncStore['peek']>[0]) => inner.peek(checks),
    refund: async (checks: Parameters<AsyncStore['refund']>[0]) => inner.refund(checks),
    reset: async () => {},
    close: async () => {},
  }
  return store
}

const CHECK = { space: 's', key: 'k', limit: limitOf('10/s'), cost: 1 }

const byName = <T extends [string, ...unknown[]]>(list: T[]): T[] =>
  list.toSorted(([a], [b]) => a.localeCompare(b))

const KINDS = ['memory', 'remote'] as const
function setUp(kind: (typeof KINDS)[number], limit: LimitInput, options: PacedOptions = {}) {
  const timers = fakeTimers(3_600_000)
  const store = kind === 'memory' ? undefined : remote(timers, 0)
  const pacer = paced(limit, { timers, ...(store && { store }), ...options })
  const served: [name: string, at: number][] = []
  const failed: [name: string, code: string, at: number][] = []
  const since = (): number => timers.clock() - 3_600_000
  const take = (name: string, cost = 1, signal?: AbortSignal): Promise<void> =>
    pacer.take(cost, { signal }).then(
      () => void served.push([name, since()]),
      (error: unknown) => {
        const { code, message } = error as SluiceError
        failed.push([name, code ?? message, since()])
      },
    )
  return { timers, pacer, served, failed, take, since }
}

describe.each(KINDS)('paced on a %s store', (kind) => {
  it('lets the burst pass, then one by one, in order', async () => {
    const { timers, served, take } = setUp(kind, { quota: 10, window: '1s', burst: 3 })
    for (const name of 'abcdef') void take(name)
    await timers.advance(1000)
    expect(served).toEqual([
      ['a', 0],
      ['b', 0],
      ['c', 0],
      ['d', 100],
      ['e', 200],
      ['f', 300],
    ])
  })

  it('never lets a small cost overtake a large one', async () => {
    const { timers, served, take } = setUp(kind, { quota: 10, window: '1s', burst: 10 })
    void take('all', 10)
    void take('large', 8)
    for (let i = 0; i < 3; i++) void take(`small ${i}`)
    await timers.advance(2000)
    expect(served).toEqual([
      ['all', 0],
      ['large', 800],
      ['small 0', 900],
      ['small 1', 1000],
      ['small 2', 1100],
    ])
  })

  it('rejects at once only calls that cannot start within maxWait', async () => {
    const { timers, served, failed, take } = setUp(
      kind,
      { quota: 10, window: '1s', burst: 1 },
      { maxWait: 500 },
    )
    for (let i = 0; i < 10; i++) void take(String(i))
    await timers.advance(0)
    expect(byName(failed)).toEqual([6, 7, 8, 9].map((i) => [String(i), 'wait-too-long', 0]))
    await timers.advance(1000)
    expect(served.map(([, at]) => at)).toEqual([0, 100, 200, 300, 400, 500])
  })

  it('counts available burst as no wait', async () => {
    const { timers, served, take } = setUp(
      kind,
      { quota: 10, window: '1s', burst: 50 },
      { maxWait: 100 },
    )
    for (let i = 0; i < 50; i++) void take(String(i))
    await timers.advance(10)
    expect(served).toHaveLength(50)
  })

  it('rejects at once if maxQueue calls wait', async () => {
    const { timers, served, failed, take } = setUp(
      kind,
      { quota: 10, window: '1s', burst: 1 },
      { maxQueue: 2 },
    )
    void take('first')
    await timers.advance(0)
    for (const name of 'abc') void take(name)
    await timers.advance(1000)
    expect(failed).toEqual([['c', 'queue-full', 0]])
    expect(served).toHaveLength(3)
  })

  it('removes an aborted call, and later calls move up', async () => {
    const { timers, pacer, served, failed, take } = setUp(kind, {
      quota: 10,
      window: '1s',
      burst: 10,
    })
    const control = new AbortController()
    void take('all', 10)
    void take('large', 10, control.signal)
    void take('small', 1)
    await timers.advance(50)
    control.abort(new Error('gone'))
    expect(pacer.waiting).toBe(1)
    await timers.advance(50)
    expect(failed).toEqual([['large', 'gone', 50]])
    expect(served).toEqual([
      ['all', 0],
      ['small', 100],
    ])
    expect(timers.pending).toBe(0)
  })

  it('sets one timer for all waiting calls, and none without them', async () => {
    const { timers, take } = setUp(kind, { quota: 100, window: '1s', burst: 1 })
    for (let i = 0; i < 50; i++) void take(String(i))
    await timers.advance(105)
    expect(timers.pending).toBe(1)
    await timers.advance(1000)
    expect(timers.pending).toBe(0)
  })

  it('rejects waiting and later calls after close', async () => {
    const { timers, pacer, failed, take } = setUp(kind, { quota: 1, window: '1s' })
    void take('first')
    await timers.advance(0)
    void take('second')
    pacer.close()
    await take('third')
    await timers.advance(0)
    expect(byName(failed).map(([name, code]) => [name, code])).toEqual([
      ['second', 'limiter-closed'],
      ['third', 'limiter-closed'],
    ])
    await timers.advance(5000)
    expect(timers.pending).toBe(0)
  })

  it('is ended by its own signal', async () => {
    const control = new AbortController()
    const { timers, failed, take } = setUp(kind, '1/min', { signal: control.signal })
    void take('first')
    await timers.advance(0)
    void take('second')
    control.abort(new Error('shutting down'))
    await take('third')
    await timers.advance(0)
    expect(byName(failed).map(([name, why]) => [name, why])).toEqual([
      ['second', 'shutting down'],
      ['third', 'shutting down'],
    ])
  })

  it('wraps a function with its arguments and result', async () => {
    const { timers, pacer, since } = setUp(kind, { quota: 10, window: '1s', burst: 1 })
    const double = pacer.wrap(async (n: number) => [n * 2, since()], {
      cost: (n) => (n === 0 ? 0 : 1),
    })
    const all = Promise.all([double(1), double(2), double(3)])
    await timers.advance(1000)
    expect(await all).toEqual([
      [2, 0],
      [4, 100],
      [6, 200],
    ])
  })

  it('passes on the error of a wrapped function, and its signal ends the wait', async () => {
    const { timers, pacer } = setUp(kind, { quota: 10, window: '1s', burst: 1 })
    const call = (signal: AbortSignal | null): Promise<never> =>
      Promise.reject(new Error(`own, ${signal === null}`))
    const fail = pacer.wrap(call, { signal: (signal) => signal })
    const messages = [fail(null), fail(AbortSignal.abort(new Error('early')))].map((answer) =>
      answer.catch((error: Error) => error.message),
    )
    await timers.advance(1000)
    expect(await Promise.all(messages)).toEqual(['own, true', 'early'])
  })

  it.each(ALGORITHMS.filter((name) => name !== 'leaky-bucket'))(
    'never passes more than the limit: %s',
    async (algorithm) => {
      const { timers, served, take } = setUp(
        kind,
        { quota: 20, window: '1s', algorithm },
        { maxWait: '10min' },
      )
      const random = seeded(3)
      let units = 0
      for (let i = 0; i < 200; i++) {
        const cost = 1 + Math.floor(random() * 5)
        units += cost
        void take(String(cost), cost)
      }
      await timers.advance((units / 10) * 1000)
      expect(served).toHaveLength(200)
      // Any bucket and any window admits at most two quotas in one window, and one for each more.
      for (const [, from] of served) {
        const within = served.filter(([, at]) => at >= from && at < from + 5000)
        expect(within.reduce((sum, [cost]) => sum + Number(cost), 0)).toBeLessThanOrEqual(20 * 6)
      }
    },
  )

  it.each(ALGORITHMS.filter((name) => name !== 'leaky-bucket'))(
    'what it rejects at once could not have been served: %s',
    async (algorithm) => {
      const limit = { quota: 5, window: '1s', algorithm } as const
      const patient = setUp(kind, limit, { maxWait: '1h' })
      const hasty = setUp(kind, limit, { maxWait: 1500 })
      for (let i = 0; i < 40; i++) for (const one of [patient, hasty]) void one.take(String(i))
      await patient.timers.advance(60_000)
      await hasty.timers.advance(60_000)
      const inTime = patient.served.filter(([, at]) => at <= 1500).map(([name]) => name)
      expect(hasty.served.map(([name]) => name)).toEqual(inTime)
      expect(hasty.failed.every(([, code, at]) => code === 'wait-too-long' && at <= 1500)).toBe(
        true,
      )
    },
  )

  it('serves thousands of random calls in order and in time, and leaves nothing behind', async () => {
    const { timers, pacer, served, failed, take } = setUp(
      kind,
      { quota: 200, window: '1s', burst: 20 },
      { maxWait: 2000, maxQueue: 300 },
    )
    const random = seeded(11)
    const all: Promise<void>[] = []
    for (let i = 0; i < 1500; i++) {
      const control = new AbortController()
      all.push(take(String(i), Math.floor(random() * 4), control.signal))
      if (random() < 0.3) timers.set(() => control.abort(new Error('gone')), random() * 500)
      await timers.advance(Math.floor(random() * 8))
    }
    await timers.advance(10_000)
    await Promise.all(all)
    expect(served.length + failed.length).toBe(1500)
    const order = served.map(([name]) => Number(name))
    expect(order).toEqual(order.toSorted((a, b) => a - b))
    expect(failed.every(([, code]) => ['gone', 'wait-too-long', 'queue-full'].includes(code))).toBe(
      true,
    )
    expect([pacer.waiting, timers.pending]).toEqual([0, 0])
  })
})

describe('paced on a remote store', () => {
  it('asks once for all calls that fit', async () => {
    const timers = fakeTimers()
    const store = remote(timers)
    const pacer = paced({ quota: 100, window: '1s', burst: 100 }, { timers, store })
    const all = Promise.all(Array.from({ length: 100 }, () => pacer.take()))
    await timers.advance(10)
    await all
    expect(store.calls).toBe(2)
  })

  it('refunds what was taken for a call aborted meanwhile', async () => {
    const timers = fakeTimers()
    const pacer = paced(
      { quota: 10, window: '1s', burst: 10 },
      { timers, store: remote(timers, 5) },
    )
    const control = new AbortController()
    const gone = pacer.take(10, { signal: control.signal }).catch(() => 'gone')
    await timers.advance(1)
    control.abort()
    expect(await gone).toBe('gone')
    await timers.advance(10)
    let isServed = false
    void pacer.take(10).then(() => (isServed = true))
    await timers.advance(6)
    expect(isServed).toBe(true)
  })

  it('waits for a transient failure up to maxWait, and then names the cause', async () => {
    const timers = fakeTimers()
    const store = remote(timers, 0)
    const broken = {
      ...store,
      take: async () =>
        Promise.reject(new SluiceError('store-timeout', 'late', { transient: true })),
    }
    const pacer = paced('10/s', { timers, store: broken, maxWait: 1000 })
    const failed = pacer.take().catch((error: unknown) => error)
    await timers.advance(2000)
    expect(await failed).toMatchObject({ code: 'wait-too-long', cause: { code: 'store-timeout' } })
    broken.take = (async (checks) => store.take(checks)) as AsyncStore['take'] as never
    let isServed = false
    void pacer.take().then(() => (isServed = true))
    await timers.advance(1000)
    expect(isServed).toBe(true)
  })

  it('rejects all calls at once after an error that is not transient', async () => {
    const timers = fakeTimers()
    const store = {
      ...remote(timers),
      take: async () => Promise.reject(new SluiceError('store-forbidden', 'no')),
    }
    const pacer = paced('10/s', { timers, store })
    const codes = [pacer.take(), pacer.take()].map((taken) =>
      taken.catch((error: SluiceError) => error.code),
    )
    await timers.advance(0)
    expect(await Promise.all(codes)).toEqual(['store-forbidden', 'store-forbidden'])
  })

  it('gives up a store that never answers at maxWait', async () => {
    const timers = fakeTimers()
    const store = { ...remote(timers), take: () => new Promise<never>(() => {}) }
    const pacer = paced('10/s', { timers, store, maxWait: 1000 })
    const codes = [pacer.take(), pacer.take()].map((taken) =>
      taken.catch((error: SluiceError) => error.code),
    )
    await timers.advance(1000)
    expect(await Promise.all(codes)).toEqual(['wait-too-long', 'wait-too-long'])
    expect(timers.pending).toBe(0)
  })

  it('serves later calls although an earlier request was never answered', async () => {
    const timers = fakeTimers()
    const store = remote(timers, 0)
    const given: number[] = []
    let answer: (verdicts: Awaited<ReturnType<AsyncStore['take']>>) => void = () => {}
    const lost: AsyncStore = {
      ...store,
      take: (checks) =>
        store.calls === 0
          ? new Promise((resolve) => {
              store.calls = 1
              answer = resolve
            })
          : store.take(checks),
      refund: async (checks) => void given.push(...checks.map(({ cost }) => cost)),
    }
    const pacer = paced('10/s', { timers, store: lost, maxWait: 1000 })
    const first = pacer.take(3).catch((error: SluiceError) => error.code)
    await timers.advance(1000)
    expect(await first).toBe('wait-too-long')
    const second = pacer.take(2)
    await timers.advance(1)
    await second
    // A late answer must be refunded.
    answer([{ ...(await store.peek([{ ...CHECK, cost: 3 }]))[0]!, allowed: true }])
    await timers.advance(0)
    expect(given).toEqual([3])
    expect([pacer.waiting, timers.pending]).toEqual([0, 0])
  })

  it('rejects waiting calls if the store answers without a verdict', async () => {
    const timers = fakeTimers()
    const store = { ...remote(timers), take: async () => [] }
    const pacer = paced('10/s', { timers, store })
    const names = [pacer.take(), pacer.take()].map((taken) =>
      taken.catch((error: Error) => error.name),
    )
    await timers.advance(0)
    expect(await Promise.all(names)).toEqual(['TypeError', 'TypeError'])
    expect([pacer.waiting, timers.pending]).toEqual([0, 0])
  })
})

const ABORTED = lengthOf(100_000, 1_000_000)

describe('aborted calls of a pacer', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heap = (): number => {
    collect()
    return process.memoryUsage().heapUsed / 2 ** 20
  }
  const abortAll = async (
    pacer: Paced,
    count: number,
    signalOf: (i: number) => AbortController,
  ): Promise<void> => {
    for (let from = 0; from < count; from += 10_000) {
      const controls = Array.from({ length: 10_000 }, (_, i) => signalOf(from + i))
      const waits = controls.map((control) =>
        pacer.take(1, { signal: control.signal }).catch(() => {}),
      )
      await Promise.resolve()
      expect(pacer.waiting).toBe(10_001)
      for (const control of controls) control.abort('gone')
      await Promise.all(waits)
    }
  }

  it.each([
    ['each with its own signal', ABORTED, () => new AbortController()],
    [
      'ten thousand with one signal',
      ABORTED,
      (() => {
        let shared = new AbortController()
        return (i: number) => (i % 10_000 === 0 ? (shared = new AbortController()) : shared)
      })(),
    ],
  ])('leave nothing behind, %s', { timeout: 240_000 }, async (name, count, signalOf) => {
    const timers = fakeTimers()
    const pacer = paced('1000/s', { timers, maxQueue: 2_000_000 })
    await pacer.take(1000)
    const keeper = pacer.take()
    keeper.catch(() => {})
    await abortAll(pacer, 20_000, signalOf)
    const before = heap()
    await abortAll(pacer, count, signalOf)
    const after = heap()
    console.log(
      `${count} aborted waits, ${name}: heap ${before.toFixed(1)} → ${after.toFixed(1)} MB`,
    )
    expect(pacer.waiting).toBe(1)
    expect(timers.pending).toBe(1)
    // A waiter that stayed would be 100 bytes and more: 10 MB in a hundred thousand.
    expect(after - before).toBeLessThan(5)
    pacer.close()
  })
})

describe('paced with invalid arguments', () => {
  it.each([
    [['1/x' as never], 'limit "1/x"'],
    [['0/s'], 'a limit with a quota above 0'],
    [[{ quota: 1, window: '1s', algorithm: 'leaky-bucket' }], 'leaky-bucket'],
    [['1/s', { maxWait: 0 }], 'maxWait is 0'],
    [['1/s', { maxQueue: 0 }], 'maxQueue is 0'],
    [['1/s', { store: {} }], 'store is {}'],
    [['1/s', { key: '' }], 'key is ""'],
    [['1/s', { burst: 3 }], 'unknown option "burst"'],
  ])('%j throws', (args, message) => {
    expect(() => paced(...(args as Parameters<typeof paced>))).toThrow(message)
  })

  it.each([-1, 0.5, Number.NaN, Infinity, 11, '1'])('rejects the cost %s', async (cost) => {
    const pacer = paced('10/s')
    await expect(pacer.take(cost as number)).rejects.toMatchObject({ code: 'invalid-cost' })
    pacer.close()
  })
})
