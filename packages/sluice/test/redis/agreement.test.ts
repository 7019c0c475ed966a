// TypeScript and Lua agree to the last bit: the same random walks through the memory store and through Redis.
// SLUICE_SEED=n walks elsewhere, SLUICE_STEPS=n further.
import { describe, expect, it } from 'vitest'
import { lengthOf } from '../../../../test/length.ts'
import type { Verdict } from '../../src/limit/verdict.ts'
import { redisStore } from '../../src/redis/redis-store.ts'
import type { Check, Store } from '../../src/stores/store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { KINDS } from '../kinds.ts'
import { oneServer } from './one-server.ts'
import { Random, SEED } from './random.ts'
import { walkOf, type Request, type Turn } from './requests.ts'

const STEPS = Number(process.env['SLUICE_STEPS'] ?? lengthOf(5000, 100_000))
const STEPS_PER_WALK = 250
/** Walks under way at once, so that the server always has something to do. */
const AT_ONCE = 24
const FIELDS = [
  'allowed',
  'remaining',
  'retryAfter',
  'resetAfter',
  'availableAfter',
  'delay',
  'at',
] as const

const redis = oneServer()

describe.each(KINDS)('%s', (algorithm) => {
  it('answers alike in every field of every verdict', async () => {
    let steps = 0
    let refused = 0
    let next = 0
    const walkers = Array.from({ length: AT_ONCE }, async () => {
      while (steps < STEPS) {
        const number = next++
        const turns = walkOf(algorithm, STEPS_PER_WALK, new Random(SEED + number))
        for (const { requests } of turns) {
          steps += requests.length
          refused += requests.filter(({ verdicts }) => verdicts.some((v) => !v.allowed)).length
        }
        await walk(turns, `${algorithm}-${number}:`).catch((error: unknown) => {
          throw new Error(`SLUICE_SEED=${SEED + number}: ${String(error)}`, { cause: error })
        })
      }
    })
    await Promise.all(walkers)
    expect(steps).toBeGreaterThanOrEqual(STEPS)
    // A walk that is never refused, or always, would show little.
    expect(refused / steps).toBeGreaterThan(0.1)
    expect(refused / steps).toBeLessThan(0.9)
  }, 240_000)
})

/** Walks through Redis and compares. All requests of a turn are sent at once. */
async function walk(turns: readonly Turn[], prefix: string): Promise<void> {
  const clock = fakeClock()
  const options = { clock, prefix, timeout: 60_000, holdRefusals: 0, onWarning: () => {} }
  const store = redisStore(redis.client, options)
  for (const [i, { now, requests }] of turns.entries()) {
    clock.set(now)
    const answers = await Promise.all(requests.map((request) => ask(store, request)))
    for (const [j, request] of requests.entries()) {
      const differing = differences(request, answers[j]!)
      if (differing !== undefined)
        throw new Error(`turn ${i} at ${now}, request ${j}: ${differing}`)
    }
  }
}

async function ask(store: Store, { do: what, checks }: Request): Promise<readonly Verdict[]> {
  return (await store[what](checks)) ?? []
}

function differences(
  { checks, verdicts }: Request,
  answers: readonly Verdict[],
): string | undefined {
  for (const [i, expected] of verdicts.entries()) {
    const got = answers[i]!
    const differing = FIELDS.filter((field) => !Object.is(got[field], expected[field]))
    if (differing.length === 0) continue
    const says = differing.map((f) => `${f} ${String(got[f])}, in memory ${String(expected[f])}`)
    return `check ${i} of ${show(checks)}: ${says.join('; ')}`
  }
  return answers.length === verdicts.length ? undefined : `${answers.length} answers`
}

function show(checks: readonly Check[]): string {
  return JSON.stringify(checks)
}
