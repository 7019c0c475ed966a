// The state of the page as an address: what goes in comes out, and nothing hostile does.
import { describe, expect, it } from 'vitest'
import { DEFAULTS, fromFragment, toFragment, type Settings } from './settings.ts'

describe('settings in a fragment', () => {
  it('are empty at first', () => {
    expect(toFragment(DEFAULTS)).toBe('')
    expect(fromFragment('')).toEqual(DEFAULTS)
  })

  it('come back as they were', () => {
    const set: Settings = {
      traffic: 'drawn',
      rate: 12.5,
      lasts: 300,
      keys: 40,
      zipf: 1.25,
      seed: 77,
      drawn: Array.from({ length: 40 }, (_, i) => (i * 7) % 101),
      quota: 55,
      window: 60,
      burst: 11,
      algorithms: ['gcra', 'sliding-log'],
      at: 999,
    }
    expect(fromFragment(`#${toFragment(set)}`)).toEqual(set)
  })

  it.each([
    ['quota=-4', { quota: 1 }],
    ['quota=1e99', { quota: 10_000 }],
    ['quota=NaN', { quota: DEFAULTS.quota }],
    ['rate=<script>', { rate: DEFAULTS.rate }],
    ['traffic=nothing', { traffic: DEFAULTS.traffic }],
    ['algorithms=none', { algorithms: DEFAULTS.algorithms }],
    ['algorithms=gcra,gcra,x', { algorithms: ['gcra'] }],
    ['drawn=zz', { drawn: DEFAULTS.drawn }],
    [`drawn=${'zz'.repeat(40)}`, { drawn: DEFAULTS.drawn }],
    ['%E0%A4%A&&&=', {}],
  ])('what is wrong is as at first or within its range: %s', (fragment, expected) => {
    expect(fromFragment(fragment)).toEqual({ ...DEFAULTS, ...expected })
  })
})
