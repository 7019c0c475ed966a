import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { World, type Answer } from '../../test/guarded-world.ts'
import type { Decision } from '../decision/decision.ts'
import { SluiceError } from '../errors.ts'
import type { Verdict } from '../limit/verdict.ts'
import { createLimiter } from '../limiter/create-limiter.ts'
import { warnOfLostStore } from './events.ts'

describe('a resilient store around a store that works', () => {
  it('returns its verdicts', async () => {
    const world = new World()
    const decision = await world.check()
    expect(decision).toMatchObject({ allowed: true, remaining: 9, degraded: false, took: 1 })
    expect(decision.cause).toBeUndefined()
    expect(world.events).toEqual([])
  })

  it('leaves no timer behind', async () => {
    const world = new World()
    await world.checks(3)
    expect(await world.time.step()).toBe(false)
  })
})

describe('a resilient store around a slow store', () => {
  it('answers by the fallback when the time is up, and says why', async () => {
    const world = new World()
    world.answer = 'never'
    const decision = await world.check()
    expect(decision).toMatchObject({
      allowed: true,
      degraded: true,
      cause: 'store-timeout',
      took: 100,
      remaining: 4,
    })
    expect(decision.outcomes[0]).toMatchObject({ source: 'fallback' })
    expect(world.events).toEqual([
      { type: 'fallback', at: world.time.now, operation: 'take', cause: 'store-timeout' },
    ])
  })

  it('accepts an answer within the time, however slow the store has become', async () => {
    const world = new World()
    world.answer = 99
    for (const decision of await world.checks(10)) expect(decision.degraded).toBe(false)
    expect(world.events).toEqual([])
  })

  it('opens after five timeouts, then sends no more calls and answers at once', async () => {
    const world = new World()
    world.answer = 'never'
    await world.checks(5)
    expect(world.types()).toEqual([
      'fallback',
      'fallback',
      'fallback',
      'fallback',
      'opened',
      'fallback',
    ])
    const { calls } = world
    const quick = await world.check()
    expect(quick).toMatchObject({ degraded: true, took: 0, cause: 'store-timeout' })
    expect(world.calls).toBe(calls)
  })

  it('refunds what was charged after the deadline, and reports it', async () => {
    const world = new World()
    world.answer = 150
    expect((await world.check()).degraded).toBe(true)
    world.answer = 1
    expect(world.inner.peek('a').remaining).toBe(9)
    await world.time.pass(60)
    expect(world.inner.peek('a').remaining).toBe(10)
    expect(world.events.at(-1)).toMatchObject({ type: 'late-answer', refunded: true })
  })

  it('refunds nothing for a late refusal', async () => {
    const world = new World()
    world.inner.check('a', 10)
    world.answer = 150
    await world.check()
    await world.time.pass(200)
    expect(world.events.at(-1)).toMatchObject({ type: 'late-answer', refunded: false })
    expect(world.inner.peek('a').remaining).toBe(0)
  })

  it('reports no late errors', async () => {
    const world = new World({ timeout: 1 })
    world.answer = 'never'
    await world.check()
    expect(world.types()).toEqual(['fallback'])
  })
})

describe('a resilient store around a store that fails', () => {
  it.each<Answer>(['store-unreachable', 'store-busy', 'store-readonly', 'store-full', 'throws'])(
    'answers by the fallback: %s',
    async (answer) => {
      const world = new World()
      world.answer = answer
      const decisions = await world.checks(8)
      expect(decisions.map(({ allowed }) => allowed)).toEqual([
        ...Array.from({ length: 5 }, () => true),
        ...Array.from({ length: 3 }, () => false),
      ])
      for (const decision of decisions) expect(decision.degraded).toBe(true)
      expect(world.types()).toContain('opened')
      expect(world.calls).toBe(5)
    },
  )

  it('is closed again two good probes after the store is back', async () => {
    const world = new World()
    world.answer = 'store-unreachable'
    await world.checks(6)
    world.answer = 1
    await world.time.pass(100)
    const decisions = await world.checks(4)
    expect(decisions.map(({ degraded }) => degraded)).toEqual([false, false, false, false])
    expect(world.types().filter((type) => type !== 'fallback')).toEqual([
      'opened',
      'half-open',
      'closed',
    ])
    expect(world.events.at(-1)).toMatchObject({ type: 'closed', openFor: expect.any(Number) })
  })

  it('warns on the console once when it is lost and once when it is back', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    const world = new World({ onEvent: warnOfLostStore })
    world.answer = 'store-unreachable'
    await world.checks(50)
    expect(warn.mock.calls).toEqual([
      [
        'sluice: the store does not answer (store-unreachable); this process limits by itself until it does',
      ],
    ])
    world.answer = 1
    await world.time.pass(1000)
    await world.checks(10)
    expect(warn.mock.calls.slice(1)).toEqual([
      [expect.stringMatching(/^sluice: the store answers again after [\d.]+ s$/)],
    ])
  })

  it('is never silent: without onEvent it warns on the console', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    const fails = async () => {
      throw new SluiceError('store-unreachable', 'gone', { transient: true })
    }
    const store = { take: fails, peek: fails, refund: fails, reset: fails, close: () => {} }
    const limiter = createLimiter({ limit: '10/h', store })
    onTestFinished(() => limiter.close())
    // Failures of one millisecond count as one.
    await vi.waitFor(async () => {
      await limiter.check('a')
      expect(warn).toHaveBeenCalled()
    })
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('the store does not answer'))
  })

  it('lets one request wait for a probe, and the others not', async () => {
    const world = new World()
    world.answer = 'never'
    await world.checks(5)
    await world.time.pass(100)
    const probe = world.limiter.check('a')
    const others = await Promise.all([world.check('b'), world.check('c')])
    expect(others.map(({ took }) => took)).toEqual([0, 0])
    expect(world.calls).toBe(6)
    await world.time.pass(100)
    expect((await probe).degraded).toBe(true)
  })

  it('probes at once when the store reports that it is reachable', async () => {
    let reachable = (): void => {}
    const world = new World(
      {},
      {
        watch: (listener) => {
          reachable = () => listener({ type: 'reachable' })
          return () => {}
        },
      },
    )
    world.answer = 'store-unreachable'
    await world.checks(6)
    world.answer = 0
    reachable()
    expect((await world.check()).degraded).toBe(false)
  })

  it('takes trouble with one key for no more than that', async () => {
    const world = new World()
    world.answer = 'store-wrong-type'
    for (const decision of await world.checks(20)) {
      expect(decision).toMatchObject({ degraded: true, cause: 'store-wrong-type' })
    }
    expect(world.types()).not.toContain('opened')
    expect(world.calls).toBe(20)
  })

  it('counts errors of other libraries as failures', async () => {
    const world = new World({}, { take: () => Promise.reject(new TypeError('a bug')) })
    expect(await world.check()).toMatchObject({ degraded: true, cause: 'store-failed' })
  })

  it.each<[how: string, onEvent: () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('a broken listener')
      },
    ],
    ['rejects', () => Promise.reject(new Error('a broken listener'))],
  ])('survives a listener that %s', async (_, onEvent) => {
    const world = new World({ onEvent })
    world.answer = 'store-unreachable'
    for (const decision of await world.checks(7)) expect(decision.degraded).toBe(true)
  })
})

describe('mistakes of the caller', () => {
  it.each([-1, 0.5, Number.NaN])('reject, whatever the store does: cost %d', async (cost) => {
    const world = new World()
    const wrong = expect.objectContaining({ code: 'invalid-cost' })
    await expect(world.limiter.check('a', cost)).rejects.toEqual(wrong)
    world.answer = 'store-unreachable'
    await world.checks(6)
    await expect(world.limiter.check('a', cost)).rejects.toEqual(wrong)
    await world.time.pass(500)
    world.answer = 'invalid-cost'
    await expect(world.limiter.check('a', cost)).rejects.toEqual(wrong)
    world.answer = 1
    expect((await world.check()).degraded).toBe(false)
  })

  it('never open the breaker', async () => {
    const world = new World()
    world.answer = 'invalid-attributes'
    for (let i = 0; i < 20; i++) {
      await world.time.pass(1)
      await expect(world.limiter.check('a')).rejects.toThrow('cannot')
    }
    expect(world.events).toEqual([])
  })
})

describe('limiters that replace each other while the store hangs', () => {
  it('find its breaker as it was: none of them learns of the outage by waiting', async () => {
    const world = new World()
    world.answer = 'never'
    await world.checks(6)
    expect(world.types()).toContain('opened')
    const waits: number[] = []
    for (let i = 0; i < 20; i++) {
      const limit = { quota: 10 + i, window: '1h', algorithm: 'fixed-window' } as const
      const limiter = createLimiter({ limit, store: world.store })
      waits.push((await world.check('another', limiter)).took)
      await world.time.pass(50)
    }
    // Only the probes wait for the deadline, a few times in a second.
    expect(waits.filter((wait) => wait > 0).length).toBeLessThan(7)
  })
})

describe('a request that no rule limits', () => {
  it('is answered without the store, and says nothing about it', async () => {
    const world = new World()
    const policy = { name: 'p', rules: [{ name: 'r', by: ['user'], limit: '1/s' }] } as const
    const limiter = createLimiter({ policy, store: world.store })
    world.answer = 'store-unreachable'
    await world.checks(6)
    expect(world.types()).toContain('opened')
    await world.time.pass(500)
    const { calls } = world
    expect(await world.check({}, limiter)).toMatchObject({ reason: 'no-rule', degraded: false })
    expect(world.calls).toBe(calls)
    expect(world.types()).not.toContain('closed')
  })
})

describe('a process that was stopped or busy', () => {
  /** A store whose timer fires late; the answer, if any, is read after it and before the turn ends. */
  async function wake(isAnswered: boolean): Promise<World & { decision: Decision }> {
    let timer = (): void => {}
    let endOfTurn = (): void => {}
    let answer: (verdicts: readonly Verdict[]) => void = () => {}
    const world = new World(
      {},
      { take: () => new Promise((resolve) => (answer = resolve)) },
      {
        timers: {
          start: (run) => (timer = run),
          stop: () => {},
          afterTurn: (run) => (endOfTurn = run),
        },
      },
    )
    const decision = world.limiter.check('a')
    world.time.now += 5000
    timer()
    if (isAnswered) answer(world.inner.check('a').outcomes)
    await world.time.pass(0)
    endOfTurn()
    return Object.assign(world, { decision: await decision })
  }

  it('takes an answer that has arrived meanwhile', async () => {
    const { decision, events } = await wake(true)
    expect(decision.degraded).toBe(false)
    expect(events).toEqual([])
  })

  it('gives up when none has', async () => {
    expect((await wake(false)).decision).toMatchObject({ degraded: true, cause: 'store-timeout' })
  })
})
