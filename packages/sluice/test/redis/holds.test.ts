// Counts with units out: Redis and memory agree to the last bit over random walks, and keys outlive their holds.
import { describe, expect, it } from 'vitest'
import { lengthOf } from '../../../../test/length.ts'
import { algorithmOf } from '../../src/algorithms/table.ts'
import { ALGORITHMS, limit, type AlgorithmName, type Limit } from '../../src/limit/limit.ts'
import { redisStore } from '../../src/redis/redis-store.ts'
import type { HeldVerdict } from '../../src/stores/holds/held-verdict.ts'
import type { Exchanged, Settlement } from '../../src/stores/holds/hold-store.ts'
import { withHolds } from '../../src/stores/holds/with-holds.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import type { Check } from '../../src/stores/store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { oneServer } from './one-server.ts'
import { Random, SEED } from './random.ts'

const redis = oneServer()
const STEPS = lengthOf(1500, 20_000)
const HELD = ALGORITHMS.filter((algorithm) => algorithmOf({ algorithm }).words > 0)

const NONE = { out: 0, leased: 0, nextEnd: 0, lastEnd: 0 }

let stores = 0
function redisWith(clock: () => number) {
  const prefix = `holds-${stores++}:`
  return redisStore(redis.client, { clock, prefix, timeout: 60_000, onWarning: () => {} })
}

describe.each(HELD)('%s', (algorithm) => {
  it('answers every exchange as the memory store does', async () => {
    const random = new Random(SEED)
    let refused = 0
    for (let done = 0; done < STEPS;) {
      const clock = fakeClock()
      const memory = withHolds(memoryStore({ clock }))
      const server = redisWith(clock)
      const places = placesOf(algorithm, random)
      let now = 1_800_000_000_000
      for (let i = 0; i < 150; i++, done++) {
        const { window } = random.pick(places).limit
        now += random.chance(0.03) ? -random.whole(0, 3 * window) : random.whole(0, window / 2)
        clock.set(now)
        const [settlements, checks] = exchangeOn(places, random)
        const expected = memory.exchange(settlements, checks)
        const got = await server.exchange(settlements, checks)
        expect(plain(got), `seed ${SEED}, step ${done}`).toEqual(plain(expected))
        if (expected.verdicts.some(({ allowed }) => !allowed)) refused += 1
        const looks = checks.map((check) => ({ ...check, hold: undefined }))
        const shown = { settled: [], verdicts: await server.peek(looks) }
        expect(plain(shown)).toEqual(plain({ settled: [], verdicts: memory.peek(looks) }))
      }
    }
    expect(refused / STEPS).toBeGreaterThan(0.05)
    expect(refused / STEPS).toBeLessThan(0.9)
  }, 120_000)
})

/** Three counts with holds and a plain one. */
function placesOf(algorithm: AlgorithmName, random: Random): readonly Check[] {
  return ['a', 'b', 'c', 'plain'].map((space) => ({
    space,
    key: 'k',
    limit: limitOf(algorithm, random),
    cost: 1,
    holds: space !== 'plain',
  }))
}

function limitOf(algorithm: AlgorithmName, random: Random): Limit {
  const window = random.pick([7, 1000, 60_000, 86_400_000])
  const quota = random.whole(1, 40)
  const burst = algorithmOf({ algorithm }).hasBurst ? random.whole(1, 40) : quota
  return limit({ algorithm, quota, window, burst })
}

function exchangeOn(
  places: readonly Check[],
  random: Random,
): [readonly Settlement[], readonly Check[]] {
  const id = (): string => `id-${random.whole(0, 9)}`
  const settlements: Settlement[] = []
  for (let n = random.whole(0, 2); n > 0; n--) {
    const place = random.pick(places.slice(0, 3))
    settlements.push({
      ...place,
      id: id(),
      spent: random.whole(0, 30),
      keep: random.chance(0.6) ? 0 : random.whole(0, 20),
      ...(random.chance(0.5) ? { life: random.whole(1, place.limit.window) } : {}),
      ...(random.chance(0.3) ? { debt: random.whole(0, 60) } : {}),
    })
  }
  const checks: Check[] = []
  for (let n = random.whole(0, 3); n > 0; n--) {
    const place = random.pick(places)
    const hold = {
      id: id(),
      life: random.whole(1, 2 * place.limit.window),
      onEnd: random.pick(['free', 'spent'] as const),
      late: random.pick([0, 5000, place.limit.window]),
    }
    checks.push({
      ...place,
      cost: random.whole(0, 12),
      shadow: random.chance(0.1),
      countRefused: random.chance(0.1),
      ...(place.holds === true && random.chance(0.7) ? { hold } : {}),
    })
  }
  return [settlements, checks]
}

/** The answers without what tells the stores apart. */
function plain({ settled, verdicts }: Exchanged): unknown {
  const numbers = verdicts.map((verdict) => {
    const { allowed, remaining, retryAfter, resetAfter, availableAfter, at } = verdict
    const { out, leased, nextEnd, lastEnd } = (verdict as Partial<HeldVerdict>).numbers ?? NONE
    const held = { out, leased, nextEnd, lastEnd }
    return { allowed, remaining, retryAfter, resetAfter, availableAfter, at, held }
  })
  return { settled, verdicts: numbers }
}
