import { describe, expect, it } from 'vitest'
import { lengthOf } from '../../../../test/length.ts'
import { DecisionSampler } from '../limiters/decide-options.ts'
import { mergeTops, SpaceSaving, spreadOf } from './space-saving.ts'

/** Numbers from 0 to 1 that are the same in every run. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Keys by Zipf's law: the n-th is taken with a weight of 1/n. */
function zipf(keys: number, seed: number): () => string {
  const sums: number[] = []
  let total = 0
  for (let i = 1; i <= keys; i++) sums.push((total += 1 / i))
  const random = randomNumbers(seed)
  return () => {
    const wanted = random() * total
    let low = 0
    let high = keys - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (sums[middle]! < wanted) low = middle + 1
      else high = middle
    }
    return `key ${low}`
  }
}

const about = (key: string): string => key

describe('the heaviest keys of a stream', () => {
  const draws = lengthOf(50_000, 1_000_000)
  const next = zipf(20_000, 7)
  const truth = new Map<string, number>()
  const sketches = [new SpaceSaving(100, about), new SpaceSaving(100, about)]
  for (let i = 0; i < draws; i++) {
    const key = next()
    truth.set(key, (truth.get(key) ?? 0) + 1)
    sketches[i % 2]!.add(key, 1, key)
  }
  const tops = sketches.map((sketch) => sketch.top())
  const merged = mergeTops(tops, 50)

  it('have their true count within the stated error', () => {
    for (const { key, count, error } of merged.entries) {
      const actual = truth.get(key) ?? 0
      expect(count).toBeGreaterThanOrEqual(actual)
      expect(count - error).toBeLessThanOrEqual(actual)
    }
  })

  it('have an error of at most one part in as many as there are places', () => {
    for (const { entries } of tops)
      for (const { error } of entries) expect(error).toBeLessThanOrEqual(draws / 2 / 100)
  })

  it('are all listed that have more than the floor', () => {
    const listed = new Set(merged.entries.map(({ key }) => key))
    const heavy = [...truth].filter(([, count]) => count > merged.floor)
    for (const [key] of heavy) expect(listed).toContain(key)
    expect(merged.entries[0]!.key).toBe('key 0')
  })
})

describe('a sketch with free places', () => {
  it('counts exactly', () => {
    const sketch = new SpaceSaving(3, about)
    for (const key of ['a', 'b', 'a']) sketch.add(key, 2, key)
    expect(sketch.top()).toEqual({
      entries: [
        { key: 'a', count: 4, error: 0, variance: 0, about: 'a' },
        { key: 'b', count: 2, error: 0, variance: 0, about: 'b' },
      ],
      floor: 0,
    })
  })

  it('is merged without a loss', () => {
    const [one, two] = [new SpaceSaving(3, about), new SpaceSaving(3, about)]
    one.add('a', 2, 'a')
    two.add('a', 3, 'a')
    two.add('b', 1, 'b')
    expect(mergeTops([one.top(), two.top()], 10)).toEqual({
      entries: [
        { key: 'a', count: 5, error: 0, variance: 0, about: 'a' },
        { key: 'b', count: 1, error: 0, variance: 0, about: 'b' },
      ],
      floor: 0,
    })
  })
})

describe('a full sketch', () => {
  it('gives the place of the lightest key to a new one, with its count as the error', () => {
    const sketch = new SpaceSaving(2, about)
    sketch.add('a', 5, 'a')
    sketch.add('b', 1, 'b')
    sketch.add('c', 1, 'c')
    expect(sketch.top().entries).toEqual([
      { key: 'a', count: 5, error: 0, variance: 0, about: 'a' },
      { key: 'c', count: 2, error: 1, variance: 0, about: 'c' },
    ])
    expect(sketch.get('b')).toBeUndefined()
  })
})

describe('a sampled stream', () => {
  // Beyond a thousand a tick, each decision that is taken stands for many.
  const sampler = new DecisionSampler()
  const next = zipf(20_000, 11)
  const truth = new Map<string, number>()
  const sketch = new SpaceSaving(100, about)
  for (let i = 0; i < lengthOf(200_000, 2_000_000); i++) {
    const key = next()
    truth.set(key, (truth.get(key) ?? 0) + 1)
    const weight = sampler.weight(1 + Math.floor(i / 50_000))
    if (weight > 0) sketch.add(key, 1, key, weight)
  }
  const { entries } = sketch.top(20)

  it('has the true counts within the stated bounds', () => {
    const outside = entries.filter((entry) => {
      const actual = truth.get(entry.key) ?? 0
      const spread = spreadOf(entry)
      return actual > entry.count + spread || actual < entry.count - entry.error - spread
    })
    expect(outside).toEqual([])
  })

  it('states a bound that says something of the heaviest keys', () => {
    const [first] = entries
    expect(first!.key).toBe('key 0')
    expect(first!.error + spreadOf(first!)).toBeLessThan(first!.count / 2)
  })
})
