import { describe, expect, it } from 'vitest'
import { createLimiter, memoryStore, parsePolicy } from 'sluice'
import { fakeClock } from 'sluice/testing'
import { Offenders, Sketch } from './offenders.ts'

const policy = parsePolicy({
  name: 'api',
  rules: [
    { name: 'per-user', by: ['user'], limit: '1/h' },
    { name: 'per-route', when: { route: 'present' }, by: ['ip', 'route'], limit: '1/h' },
    { name: 'keys', by: ['key'], limit: '1/h' },
  ],
})

function following(start = 600_000) {
  const clock = fakeClock(start)
  const offenders = new Offenders(clock)
  const limiter = createLimiter({ policy, store: memoryStore() })
  const note = offenders.noterFor(policy)
  const ask = (attributes: Parameters<typeof limiter.check>[0], times = 1) => {
    for (let i = 0; i < times; i++) {
      const decision = limiter.check(attributes)
      if (!decision.allowed) note(decision, attributes)
    }
  }
  return { clock, offenders, ask }
}

describe('offenders', () => {
  it('are those refused most, with the attributes of the rule that refused', () => {
    const { offenders, ask } = following()
    ask({ user: 'ann' }, 4)
    ask({ user: 'bob' }, 9)
    ask({ ip: '192.0.2.1', route: '/a', plan: 'free' }, 6)
    ask('k', 3)
    expect(offenders.top(10).offenders).toEqual([
      { policy: 'api', rule: 'per-user', attributes: { user: 'bob' }, refused: 8, error: 0 },
      {
        policy: 'api',
        rule: 'per-route',
        attributes: { ip: '192.0.2.1', route: '/a' },
        refused: 5,
        error: 0,
      },
      { policy: 'api', rule: 'per-user', attributes: { user: 'ann' }, refused: 3, error: 0 },
      { policy: 'api', rule: 'keys', attributes: { key: 'k' }, refused: 2, error: 0 },
    ])
    expect(offenders.top(1).offenders).toHaveLength(1)
  })

  it('count for one to two minutes', () => {
    const { clock, offenders, ask } = following()
    ask({ user: 'ann' }, 4)
    clock.advance(59_999)
    ask({ user: 'ann' }, 2)
    clock.advance(1)
    ask({ user: 'ann' }, 1)
    expect(offenders.top(10)).toMatchObject({ since: 600_000, offenders: [{ refused: 6 }] })
    clock.advance(60_000)
    expect(offenders.top(10).offenders).toMatchObject([{ refused: 1 }])
    clock.advance(60_000)
    expect(offenders.top(10).offenders).toEqual([])
    ask({ user: 'ann' }, 2)
    expect(offenders.top(10).offenders).toMatchObject([{ refused: 2 }])
  })

  it('long values stand as their hash', () => {
    const { offenders, ask } = following()
    ask({ user: 'x'.repeat(129) }, 2)
    expect(offenders.top(1).offenders[0]!.attributes['user']).toMatch(/^~[\w-]{43}$/)
  })

  it('a policy that is loaded again goes on with the same figures', () => {
    const { offenders, ask } = following()
    ask({ user: 'ann' }, 3)
    const note = offenders.noterFor(policy)
    const limiter = createLimiter({ policy, store: memoryStore() })
    limiter.check({ user: 'ann' })
    note(limiter.check({ user: 'ann' }), { user: 'ann' })
    expect(offenders.top(1).offenders).toMatchObject([{ refused: 3 }])
  })
})

describe('many refusals', () => {
  it('are estimated from a part of them', () => {
    const { offenders, ask } = following()
    ask({ user: 'ann' }, 30_001)
    ask({ user: 'bob' }, 10_001)
    const [first, second] = offenders.top(2).offenders
    expect([first!.attributes['user'], second!.attributes['user']]).toEqual(['ann', 'bob'])
    // Six standard deviations of the estimate.
    expect(Math.abs(first!.refused - 30_000)).toBeLessThan(3000)
    expect(Math.abs(second!.refused - 10_000)).toBeLessThan(1800)
  })
})

describe('the sketch', () => {
  it('keeps the heavy keys of a stream of strangers, and bounds its error', () => {
    const sketch = new Sketch()
    let strangers = 0
    for (let i = 0; i < 100_000; i++) {
      const key = i % 5 === 0 ? `heavy ${i % 3}` : `stranger ${strangers++}`
      sketch.add(key, [key])
    }
    const top = [...sketch.list()].toSorted((a, b) => b.count - a.count).slice(0, 3)
    expect(new Set(top.map(({ key }) => key))).toEqual(new Set(['heavy 0', 'heavy 1', 'heavy 2']))
    for (const { count, error } of top) {
      expect(count - error).toBeLessThanOrEqual(6667)
      expect(count).toBeGreaterThanOrEqual(6666)
    }
    expect(sketch.list()).toHaveLength(100)
  })
})
