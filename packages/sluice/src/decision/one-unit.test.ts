// Decisions of one unit by one rule, which a memory store makes without a verdict.
import { describe, expect, it } from 'vitest'
import { ALGORITHMS, limit } from '../limit/limit.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { Check, SyncStore } from '../stores/store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { decide, type DecisionRequest } from './decide.ts'
import { visibleOutcomes, type RuleCheck } from './lazy-decision.ts'

const START = 1_800_000_000_000
const numbers = ({
  remaining,
  retryAfter,
  resetAfter,
  availableAfter,
}: Record<string, unknown>) => ({
  remaining,
  retryAfter,
  resetAfter,
  availableAfter,
})

/** Two stores on one clock: the store as it is, and one that offers nothing but `take`. */
function twoStores() {
  const clock = fakeClock(START)
  const plain = memoryStore({ clock })
  const long: SyncStore = {
    sync: true,
    take: (checks) => plain.take(checks),
    peek: (checks) => plain.peek(checks),
    refund: (checks) => plain.refund(checks),
    reset: (checks) => plain.reset(checks),
    close: () => plain.close(),
  }
  return { clock, short: memoryStore({ clock }), long }
}

const requestOf = (check: Partial<Check> & Pick<Check, 'limit'>): DecisionRequest => {
  const own: RuleCheck = { space: 's', key: 'a', cost: 1, rule: { name: 'per-key' }, ...check }
  const skipped = [{ rule: 'per-user', missing: 'user' }]
  return { attributes: [{ key: 'a' }], checks: [own], skipped }
}

describe.each(ALGORITHMS)('one unit by %s', (algorithm) => {
  const own = limit({ algorithm, quota: 3, window: '1min' })

  it('is decided, observed and named as by take', () => {
    const { clock, short, long } = twoStores()
    let ids = 0
    const answers = [short, long].map((store) => {
      const seen: unknown[] = []
      clock.set(START)
      for (const step of [0, 0, 1, 7, 0, 20_000, 30_001, -5000, 0, 0, 90_000, 1]) {
        if (step < 0) clock.set(clock() + step)
        else clock.advance(step)
        const decision = decide(requestOf({ limit: own }), {
          store,
          identify: () => `id-${++ids}`,
          onDecision: (decision) =>
            seen.push(
              visibleOutcomes(decision).map((one) => ({ ...numbers(one), at: decision.at })),
            ),
        })
        seen.push(JSON.parse(JSON.stringify(decision)))
      }
      ids = 0
      return seen
    })
    expect(answers[0]).toEqual(answers[1])
    expect(JSON.stringify(answers[0])).toContain('"id":"id-1"')
  })
})

describe('a check of another kind', () => {
  const own = limit({ quota: 2, window: '1min', burst: 2 })
  it.each([
    ['of two units', { cost: 2 }],
    ['of none', { cost: 0 }],
    ['in shadow', { shadow: true }],
    ['that counts refusals', { countRefused: true }],
  ])('%s is decided by take', (_, kind) => {
    const { short, long } = twoStores()
    const walk = (store: SyncStore): unknown[] =>
      Array.from({ length: 4 }, () =>
        JSON.parse(JSON.stringify(decide(requestOf({ limit: own, ...kind }), { store }))),
      )
    expect(walk(short)).toEqual(walk(long))
  })
})
