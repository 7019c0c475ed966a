import { expect, it } from 'vitest'
import { createLimiter } from '../limiter/create-limiter.ts'
import type { Check } from '../stores/store.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { parsePolicy } from './parse.ts'
import { placesOf } from './places.ts'

const policy = parsePolicy({
  name: 'api',
  rules: [
    {
      name: 'per-user',
      by: ['user'],
      limit: '10/min',
      tiers: { attribute: 'plan', limits: { pro: '20/min', big: '100/h', staff: 'unlimited' } },
      overrides: [
        { when: { user: 'ann' }, limit: { quota: 5, window: '1min', algorithm: 'gcra' } },
      ],
    },
    { name: 'all', by: [], limit: '1000/min' },
  ],
})

it('names every place once, with the limit that counts there', () => {
  const shown = placesOf(policy).map(({ rule, limit }) => [
    rule.name,
    limit.algorithm,
    limit.quota,
    limit.window,
  ])
  expect(shown).toEqual([
    ['per-user', 'token-bucket', 10, 60_000],
    ['per-user', 'token-bucket', 100, 3_600_000],
    ['per-user', 'gcra', 5, 60_000],
    ['all', 'token-bucket', 1000, 60_000],
  ])
})

it('names the places where limiters count', () => {
  const store = memoryStore()
  const spaces = new Set<string>()
  const limiter = createLimiter({
    policy,
    store: {
      ...store,
      sync: true,
      close: () => store.close(),
      take(checks: readonly Check[]) {
        for (const { space } of checks) spaces.add(space)
        return store.take(checks)
      },
    } as typeof store,
  })
  for (const attributes of [
    { user: 'bob' },
    { user: 'bob', plan: 'pro' },
    { user: 'bob', plan: 'big' },
    { user: 'ann' },
  ])
    limiter.check(attributes)
  expect([...spaces].toSorted()).toEqual(
    placesOf(policy)
      .map(({ space }) => space)
      .toSorted(),
  )
})
