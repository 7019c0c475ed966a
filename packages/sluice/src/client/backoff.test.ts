import { describe, expect, it } from 'vitest'
import { seeded } from '../../test/client/simulated-server.ts'
import { backoff, type BackoffOptions } from './backoff.ts'

const first = (count: number, options: BackoffOptions): number[] => [
  ...backoff({ ...options, attempts: count }),
]

describe('backoff', () => {
  it.each<[string, BackoffOptions, number[]]>([
    ['doubles from half a second', {}, [500, 1000, 2000, 4000, 8000]],
    ['stops growing at its cap', { base: '10s' }, [10_000, 20_000, 40_000, 60_000, 60_000]],
    ['grows by its factor', { base: 100, factor: 3 }, [100, 300, 900, 2700, 8100]],
    ['stays constant with the factor 1', { base: 100, factor: 1 }, [100, 100, 100, 100, 100]],
  ])('without jitter %s', (_, options, delays) => {
    expect(first(5, { ...options, jitter: 'none' })).toEqual(delays)
  })

  it('with full jitter is between 0 and the upper bound, both included', () => {
    expect(first(3, { random: () => 0 })).toEqual([0, 0, 0])
    expect(first(3, { random: () => 1 - 2 ** -53 })).toEqual([500, 1000, 2000])
  })

  it('is drawn evenly: chi-squared over 20 cells of 200,000 delays', () => {
    const random = seeded(42)
    const cells = Array.from({ length: 20 }, () => 0)
    const draws = 200_000
    const delays = backoff({ base: 9_999, factor: 1, random })
    for (let i = 0; i < draws; i++)
      cells[Math.floor(((delays.next().value ?? 0) / 10_000) * 20)]! += 1
    const expected = draws / cells.length
    const chiSquared = cells.reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0)
    console.log(`chi-squared of full jitter, 19 degrees of freedom: ${chiSquared.toFixed(1)}`)
    // 99.9 % of even draws stay below 43.8; a skew of 5 % would give about 170.
    expect(chiSquared).toBeLessThan(43.8)
  })

  it('is drawn by the given random function', () => {
    const random = seeded(42)
    const low = [
      ...backoff({ base: 9_999, factor: 1, attempts: 10_000, random: () => random() ** 1.1 }),
    ]
    const even = [...backoff({ base: 9_999, factor: 1, attempts: 10_000, random })]
    const mean = (list: number[]) => list.reduce((a, b) => a + b) / list.length
    expect(Math.abs(mean(even) - 5000)).toBeLessThan(100)
    expect(Math.abs(mean(low) - 5000)).toBeGreaterThan(100)
  })

  it('has no end by default and does not overflow', () => {
    const delays = backoff({ jitter: 'none' })
    let last = 0
    for (let i = 0; i < 5000; i++) last = delays.next().value ?? -1
    expect(last).toBe(60_000)
  })

  it.each([
    [{ base: 0 }, 'base is 0'],
    [{ factor: 0.5 }, 'factor is 0.5'],
    [{ factor: Number.NaN }, 'factor is NaN'],
    [{ cap: '1x' }, 'cap is "1x"'],
    [{ jitter: 'some' }, 'jitter is "some"'],
    [{ attempts: -1 }, 'attempts is -1'],
    [{ tries: 3 }, 'unknown option "tries"'],
    [null, 'options are null'],
  ])('throws for %j at once', (options, message) => {
    expect(() => backoff(options as BackoffOptions)).toThrow(message)
  })
})
