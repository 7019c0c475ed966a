// A store that fails after it has refused: what it is known to refuse stays refused, and nothing else.
import { describe, expect, it } from 'vitest'
import { ALGORITHMS } from '../../src/algorithms/table.ts'
import { SluiceError } from '../../src/errors.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import type { Limiter } from '../../src/limiter/limiter.ts'
import type { Rule } from '../../src/policy/policy.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { withRefusalCache } from '../../src/stores/refusal-cache/refusal-cache.ts'
import type { AsyncStore, Store } from '../../src/stores/store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'

const START = 1_800_000_000_000

/** A limiter on a store that a test can make unreachable. */
function set(...rules: Partial<Rule>[]) {
  const clock = fakeClock(START)
  const counts = memoryStore({ clock })
  const state = { isGone: false }
  const reach = async <T>(act: () => T): Promise<T> => {
    if (state.isGone) throw new SluiceError('store-unreachable', 'gone', { transient: true })
    return act()
  }
  const store: AsyncStore = {
    take: (checks) => reach(() => counts.take(checks)),
    peek: (checks) => reach(() => counts.peek(checks)),
    refund: (checks) => reach(() => counts.refund(checks)),
    reset: (checks) => reach(() => counts.reset(checks)),
    close: () => counts.close(),
  }
  const options = { hold: 250, clock }
  const cached = withRefusalCache(store, options)
  const limiterOf = (...rules: Partial<Rule>[]): Limiter => limiterOn(cached, ...rules)
  return { limiter: limiterOf(...rules), limiterOf, clock, counts, state }
}

function limiterOn(store: Store, ...rules: Partial<Rule>[]): Limiter {
  const common = { by: ['user'], limit: { quota: 10, window: '1h', algorithm: 'fixed-window' } }
  return createLimiter({
    policy: {
      name: 'p',
      rules: rules.map((rule, i) => ({ name: `rule ${i}`, ...common, ...rule }) as Rule),
    },
    store,
  }) as Limiter
}

async function admitted(limiter: Limiter, user: string, cost = 1): Promise<number> {
  let count = 0
  for (let i = 0; i < 30; i++) if ((await limiter.check({ user }, cost)).allowed) count += 1
  return count
}

describe('a limiter whose store becomes unreachable after it has refused', () => {
  it('still refuses the key that was spent, for as long as the store would, and no other', async () => {
    const { limiter, clock, state } = set({})
    expect(await admitted(limiter, 'ann')).toBe(10)
    state.isGone = true
    clock.advance(10_000)
    expect(await admitted(limiter, 'ann')).toBe(0)
    const decision = await limiter.check({ user: 'ann' })
    expect(decision).toMatchObject({
      allowed: false,
      reason: 'over-limit',
      degraded: true,
      remaining: 0,
    })
    expect(decision.retryAfter).toBe(3_600_000 - ((START + 10_000) % 3_600_000))
    expect(decision.outcomes).toMatchObject([{ source: 'fallback' }])
    expect(await admitted(limiter, 'bob')).toBe(5)
    clock.advance(3_600_000)
    expect(await admitted(limiter, 'ann')).toBe(5)
  })

  it.each(ALGORITHMS)(
    'grants its share of what time gives back, and no more: %s',
    async (algorithm) => {
      const { limiter, clock, state } = set({ limit: { quota: 100, window: '1min', algorithm } })
      for (let i = 0; (await limiter.check({ user: 'ann' })).allowed; i++)
        expect(i).toBeLessThanOrEqual(100)
      state.isGone = true
      let granted = 0
      for (let i = 0; i < 400; i++) {
        clock.advance(10)
        if ((await limiter.check({ user: 'ann' })).allowed) granted += 1
      }
      // Half of the 6.7 units that come back in four seconds, and the one that was nearly due.
      expect(granted).toBeLessThanOrEqual(4)
    },
  )

  it('charges none of the other rules', async () => {
    const { limiter, state } = set({}, { by: [], limit: { quota: 100, window: '1h' } })
    await admitted(limiter, 'ann')
    state.isGone = true
    await admitted(limiter, 'ann')
    const { outcomes } = await limiter.peek({ user: 'ann' })
    expect(outcomes.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [false, 0],
      // Half of the 90 that the store had left.
      [true, 45],
    ])
  })

  it.each<[string, Partial<Rule>, number]>([
    ['open: lets through', { onStoreFailure: 'open' }, 30],
    ['closed: refuses', { onStoreFailure: 'closed' }, 0],
    ['shadow: has no say', { shadow: true }, 30],
  ])('leaves rules that say otherwise alone: %s', async (_, more, count) => {
    const { limiter, state, clock } = set(more)
    await admitted(limiter, 'ann')
    state.isGone = true
    clock.advance(250)
    expect(await admitted(limiter, 'ann')).toBe(count)
  })

  it('has its share of what is left when the store has refused a larger cost only', async () => {
    const { limiter, state } = set({})
    await limiter.check({ user: 'ann' }, 4)
    expect((await limiter.check({ user: 'ann' }, 7)).allowed).toBe(false)
    state.isGone = true
    expect(await admitted(limiter, 'ann')).toBe(3)
  })

  it.each([
    ['raised has the share of what the new one has left', 20, 5],
    ['lowered stays refused', 4, 0],
  ])('under a limit that was %s', async (_, quota, count) => {
    const { limiter, limiterOf, state } = set({})
    await admitted(limiter, 'ann')
    const next = limiterOf({ limit: { quota, window: '1h', algorithm: 'fixed-window' } })
    state.isGone = true
    expect(await admitted(next, 'ann')).toBe(count)
    expect(await admitted(limiter, 'ann')).toBe(0)
  })

  it('has the share of what the tier has left that it rose to', async () => {
    const tiers = {
      attribute: 'plan',
      limits: { pro: { quota: 100, window: '1h', algorithm: 'fixed-window' } },
    } as const
    const { limiter, state } = set({ tiers })
    await admitted(limiter, 'ann')
    state.isGone = true
    expect((await limiter.check({ user: 'ann' })).allowed).toBe(false)
    expect((await limiter.check({ user: 'ann', plan: 'pro' }, 46)).allowed).toBe(false)
    expect((await limiter.check({ user: 'ann', plan: 'pro' }, 45)).allowed).toBe(true)
  })

  it('starts from the room that another request has shown', async () => {
    const { limiter, limiterOf, counts, state } = set({})
    const wider = limiterOf({}, { by: [], limit: { quota: 100, window: '1h' } })
    await admitted(limiter, 'ann')
    await limiterOn(counts, {}).reset({ user: 'ann' })
    expect((await wider.check({ user: 'ann' })).allowed).toBe(true)
    state.isGone = true
    // Half of the 9 that are left, rounded down.
    expect(await admitted(limiter, 'ann')).toBe(4)
  })

  it('forgets it when it is reset, although the store cannot be', async () => {
    const { limiter, state } = set({})
    await admitted(limiter, 'ann')
    state.isGone = true
    await expect(limiter.reset({ user: 'ann' })).rejects.toThrow('gone')
    expect(await admitted(limiter, 'ann')).toBe(5)
  })
})
