// The vectors of spec/algorithms: as the oracle makes them, and true of the pure functions and the memory store.
// UPDATE_VECTORS=1 writes the files anew.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Limit } from '../src/limit/limit.ts'
import { memoryStore } from '../src/stores/memory/memory-store.ts'
import { fakeClock } from '../src/testing/fake-clock.ts'
import { runVectorCase, type VectorFile, type VectorSubject } from '../src/testing/vectors.ts'
import { Count } from './count.ts'
import { KINDS, VARIANT_KINDS } from './kinds.ts'
import { vectorFile, vectorText } from './vector-files.ts'

const folder = new URL('../../../spec/algorithms/', import.meta.url)

/** The pure functions, with the state in hand. */
function pureFunctions(): VectorSubject {
  let count: Count
  return {
    begin: (limit) => void (count = new Count(limit)),
    take: (_limit, cost, now) => count.take(cost, now),
    peek: (_limit, cost, now) => count.peek(cost, now),
    refund: (_limit, cost, now, takenAt) => count.refund(cost, now, takenAt),
  }
}

/** A memory store under a clock that the vectors set. */
function memory(): VectorSubject {
  const clock = fakeClock()
  let store = memoryStore({ clock })
  const check = (limit: Limit, cost: number) => ({ space: 'vectors', key: 'key', limit, cost })
  return {
    begin() {
      store.close()
      store = memoryStore({ clock })
    },
    take(limit, cost, now) {
      clock.set(now)
      return store.take([check(limit, cost)])[0]!
    },
    peek(limit, cost, now) {
      clock.set(now)
      return store.peek([check(limit, cost)])[0]!
    },
    refund(limit, cost, now, takenAt) {
      clock.set(now)
      store.refund([{ ...check(limit, cost), takenAt }])
    },
  }
}

describe.each(KINDS)('%s', (algorithm) => {
  const path = new URL(`${algorithm}.json`, folder)
  const made = vectorText(vectorFile(algorithm))
  if (process.env['UPDATE_VECTORS'] === '1') {
    mkdirSync(folder, { recursive: true })
    writeFileSync(path, made)
  }
  const text = readFileSync(path, 'utf8')
  const { cases } = JSON.parse(text) as VectorFile

  it('has the vectors that the definitions give', () => {
    expect(text).toBe(made)
  })

  it('has at least forty steps, a variant fifteen', () => {
    const least = (VARIANT_KINDS as readonly string[]).includes(algorithm) ? 15 : 40
    expect(cases.flatMap(({ steps }) => steps).length).toBeGreaterThanOrEqual(least)
  })

  for (const vector of cases) {
    it(`pure functions: ${vector.name}`, async () => {
      expect(await runVectorCase(vector, pureFunctions())).toBe(vector.steps.length)
    })
    it(`memory store: ${vector.name}`, async () => {
      expect(await runVectorCase(vector, memory())).toBe(vector.steps.length)
    })
  }
})
