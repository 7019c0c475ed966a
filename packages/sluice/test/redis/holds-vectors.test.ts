// The vectors of spec/holds, on memory and on Redis.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { limit as limitOf, type Limit } from '../../src/limit/limit.ts'
import { redisStore } from '../../src/redis/redis-store.ts'
import type { Exchanged, Settlement } from '../../src/stores/holds/hold-store.ts'
import { withHolds } from '../../src/stores/holds/with-holds.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { oneServer } from './one-server.ts'

interface Step {
  readonly at: number
  readonly hold?: { id: string; units: number; life: number; late: number }
  readonly settle?: Pick<Settlement, 'id' | 'spent' | 'keep' | 'life' | 'debt'>
  readonly expect: Readonly<Record<string, unknown>>
}

interface Case {
  readonly name: string
  readonly limit: Limit
  readonly steps: readonly Step[]
}

const file = new URL('../../../../spec/holds/holds.json', import.meta.url)
const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: readonly Case[] }
/** The vectors begin at 0. Every window of theirs divides this instant. */
const START = 1_800_000_000_000_000
const redis = oneServer()

describe.each(['memory', 'Redis'])('%s', (kind) => {
  it.each(cases)('answers as the vectors say: $name', async ({ name, limit, steps }) => {
    const clock = fakeClock()
    const own = { clock, prefix: `${cases.findIndex((one) => one.name === name)}:` }
    const store =
      kind === 'memory'
        ? withHolds(memoryStore({ clock }))
        : redisStore(redis.client, { ...own, timeout: 60_000, onWarning: () => {} })
    const place = { space: 's', key: 'k', limit: limitOf(limit) }
    for (const { at, hold, settle, expect: expected } of steps) {
      clock.set(START + at)
      const settlements = settle === undefined ? [] : [{ ...place, ...settle }]
      const checks =
        hold === undefined
          ? []
          : [{ ...place, cost: hold.units, holds: true, hold: { ...hold, onEnd: 'free' as const } }]
      const { settled, verdicts }: Exchanged = await store.exchange(settlements, checks)
      const [answer] = settled.map(
        ({ status, charged, uncharged, kept, endsAt, remaining, debt }) => {
          const end = endsAt === 0 ? 0 : endsAt - START
          return { status, charged, uncharged, kept, endsAt: end, remaining, debt }
        },
      )
      const [verdict] = verdicts.map(({ allowed, remaining }) => ({ allowed, remaining }))
      expect(answer ?? verdict, `at ${at}`).toEqual(expected)
    }
  })
})
