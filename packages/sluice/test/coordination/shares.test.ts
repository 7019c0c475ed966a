// Counts of one process under its share of each limit.
import { describe, expect, it } from 'vitest'
import {
  withCoordination,
  type CoordinationOptions,
} from '../../src/coordination/with-coordination.ts'
import type { CoordinationEvent } from '../../src/coordination/options.ts'
import { SluiceError } from '../../src/errors.ts'
import { limit, type Limit } from '../../src/limit/limit.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import { withResilience } from '../../src/resilience/resilient-store.ts'
import { withHolds } from '../../src/stores/holds/with-holds.ts'
import type { RemoteHoldStore } from '../../src/stores/holds/hold-store.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import type { Check } from '../../src/stores/store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'

function processWith(options: CoordinationOptions) {
  const clock = fakeClock()
  const shared = withHolds(memoryStore({ clock }))
  const remote = { ...bound(shared), sync: false } as unknown as RemoteHoldStore
  return { clock, shared, store: withCoordination(remote, options, { wallClock: clock }) }
}

/** The methods of an object as functions. */
function bound(store: object): object {
  const names = ['take', 'peek', 'refund', 'reset', 'close', 'exchange'] as const
  const own = store as Record<string, (...args: unknown[]) => unknown>
  return Object.fromEntries(names.map((name) => [name, own[name]!.bind(store)]))
}

function localCheck(rule: Limit, key = 'k'): Check {
  return { space: 'local', key, limit: rule, cost: 1, coordination: 'local' }
}

async function admittedOf(
  store: ReturnType<typeof processWith>['store'],
  check: Check,
  tries: number,
) {
  let admitted = 0
  for (let i = 0; i < tries; i++) if ((await store.take([check]))[0]!.allowed) admitted += 1
  return admitted
}

describe('local counts', () => {
  it('admit the share of the process, and together no more than the limit', async () => {
    const rule = limit('100/h')
    const regions = [0.5, 0.29, 0.21].map((share) => processWith({ share }))
    const admitted = []
    for (const { store } of regions) admitted.push(await admittedOf(store, localCheck(rule), 200))
    expect(admitted).toEqual([50, 29, 21])
  })

  it('divide a limit by the replicas, and move nothing when one of them is lost', async () => {
    const rule = limit('10/h')
    const [first, second, lost] = [1, 2, 3].map(() => processWith({ replicas: 3 }))
    await lost!.store.close()
    expect(await admittedOf(first!.store, localCheck(rule), 20)).toBe(3)
    expect(await admittedOf(second!.store, localCheck(rule), 20)).toBe(3)
  })

  it('admit 1 where a share is less, and report that once for each limit', async () => {
    const events: CoordinationEvent[] = []
    const { store } = processWith({ replicas: 10, onEvent: (event) => void events.push(event) })
    const rule = limit('3/h')
    expect(await admittedOf(store, localCheck(rule), 5)).toBe(1)
    expect(await admittedOf(store, localCheck(rule, 'other'), 5)).toBe(1)
    expect(events).toEqual([{ type: 'local', space: 'local', key: '', reason: 'below-one' }])
    expect(await admittedOf(store, localCheck(limit({ quota: 0, window: '1h' })), 5)).toBe(0)
  })

  it('ask no store, and are taken all or none beside counts that do', async () => {
    const { store, shared } = processWith({ share: 0.5 })
    const local = localCheck(limit('4/h'))
    const strict: Check = { space: 'strict', key: 'k', limit: limit('1/h'), cost: 1 }
    expect(store.takeNow!([local])).toMatchObject([
      { allowed: true, source: 'memory', remaining: 1 },
    ])
    expect(await store.take([local, strict])).toMatchObject([{ allowed: true }, { allowed: true }])
    // This process refuses: the other count is not charged.
    expect(await store.take([local, { ...strict, key: 'new' }])).toMatchObject([
      { allowed: false },
      { allowed: true },
    ])
    expect(shared.peek([{ ...strict, key: 'new' }])[0]!.remaining).toBe(1)
    await store.reset([local])
    // The other count refuses: this one is not charged.
    expect(await store.take([local, strict])).toMatchObject([{ allowed: true }, { allowed: false }])
    expect((await store.peek([local]))[0]!.remaining).toBe(2)
    await store.refund([local])
  })

  it('are refused beside counts of an unreachable store too, whatever onStoreFailure says', async () => {
    const { clock, store } = processWith({ replicas: 4 })
    const guarded = withResilience(store, { replicas: 4, onEvent: () => {} }, { clock })
    const take = () => Promise.reject(new SluiceError('store-unreachable', 'gone'))
    Object.assign(store, { take, exchange: take })
    const checks = (['local', 'strict'] as const).map((coordination): Check => ({
      ...localCheck(limit('20/h')),
      space: coordination,
      coordination: coordination === 'local' ? 'local' : undefined,
      onStoreFailure: 'open',
    }))
    const answers = []
    for (let i = 0; i < 8; i++) answers.push(await guarded.take(checks))
    expect(answers.map(([local]) => local!.allowed).filter(Boolean)).toHaveLength(5)
    expect(answers.every(([, strict]) => strict!.source === 'open')).toBe(true)
    await guarded.close()
  })

  it('need to know the share', async () => {
    const { store } = processWith({})
    expect(() => store.take([localCheck(limit('1/h'))])).toThrow(
      'the share of this process is not known',
    )
    expect(() => processWith({ share: 0 })).toThrow(
      'share is 0; accepted: a number above 0, at most 1',
    )
    expect(() => processWith({ replicas: 0.5 })).toThrow(
      'replicas is 0.5; accepted: a whole number',
    )
    expect(() => processWith({ replicas: 2, share: 0.5 })).toThrow(
      'replicas and share are both set',
    )
  })

  it('are what a limiter applies for a rule that is local', async () => {
    const { store } = processWith({ replicas: 2 })
    const rule = { name: 'all', by: ['user'], limit: '10/h', coordination: 'local' } as const
    const limiter = createLimiter({ policy: { name: 'p', rules: [rule] }, store })
    let admitted = 0
    for (let i = 0; i < 20; i++) if (limiter.checkNow({ user: 'ada' })!.allowed) admitted += 1
    expect(admitted).toBe(5)
    await limiter.close()
  })
})
