import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  BreakerMachine,
  NO_ENTRY,
  type BreakerOptions,
  type BreakerState,
} from './breaker-machine.ts'

/** What happens at an instant, and the state after it. */
type Step = readonly [at: number, what: What, state: BreakerState]
type What =
  | 'good'
  | 'bad'
  | 'many bad' // at one instant
  | 'turned away'
  | 'begin' // a call that ends later
  | 'end good'
  | 'end bad'
  | 'withdraw'
  | 'hint'

/** Plays a story; chance is always in the middle, so that the first probe comes 75 ms after opening. */
function play(steps: readonly Step[], options: BreakerOptions = {}): readonly BreakerState[] {
  const breaker = new BreakerMachine(options)
  const begun: number[] = []
  const entered = (at: number): number => {
    const entry = breaker.enter(at)
    expect(entry, `the store is asked at ${at}`).not.toBe(NO_ENTRY)
    return entry
  }
  const does: Record<What, (at: number) => void> = {
    good: (at) => breaker.succeeded(entered(at)),
    bad: (at) => breaker.failed(entered(at), at, 0.5),
    'many bad': (at) => {
      const entries = Array.from({ length: 64 }, () => breaker.enter(at))
      for (const entry of entries) breaker.failed(entry, at, 0.5)
    },
    'turned away': (at) => expect(breaker.enter(at), `not asked at ${at}`).toBe(NO_ENTRY),
    begin: (at) => void begun.push(entered(at)),
    'end good': () => breaker.succeeded(begun.shift()!),
    'end bad': (at) => breaker.failed(begun.shift()!, at, 0.5),
    withdraw: () => breaker.withdrew(begun.shift()!),
    hint: (at) => breaker.hint(at),
  }
  return steps.map(([at, what]) => {
    does[what](at)
    return breaker.state
  })
}

const opened: readonly Step[] = [
  [1, 'bad', 'closed'],
  [2, 'bad', 'closed'],
  [3, 'bad', 'closed'],
  [4, 'bad', 'closed'],
  [5, 'bad', 'open'],
]
const over = (from: number, to: number, every: number, what: What, state: BreakerState): Step[] =>
  Array.from({ length: Math.ceil((to - from) / every) }, (_, i) => [from + i * every, what, state])

describe('a breaker', () => {
  it.each<[story: string, steps: readonly Step[], options?: BreakerOptions]>([
    ['stays closed while calls go well', over(0, 5000, 100, 'good', 'closed')],
    ['opens after five failures in a row', opened],
    [
      'counts failures in a row from the last success',
      [...opened.slice(0, 4), [5, 'good', 'closed'], [6, 'bad', 'closed'], [7, 'bad', 'closed']],
    ],
    [
      'opens however slowly the failures come',
      [...over(0, 16_000, 4000, 'bad', 'closed'), [16_000, 'bad', 'open']],
    ],
    [
      'takes the failures of one millisecond for one, since one lost reply fails many requests',
      [
        [1, 'many bad', 'closed'],
        [2, 'many bad', 'closed'],
        [3, 'good', 'closed'],
        [4, 'many bad', 'closed'],
      ],
    ],
    [
      'opens when half of the calls of a second fail',
      [
        ...Array.from({ length: 19 }, (_, i): Step => {
          return [i * 20, i % 2 === 0 ? 'bad' : 'good', 'closed']
        }),
        [380, 'bad', 'open'],
      ],
    ],
    [
      'stays closed when fewer fail',
      Array.from({ length: 600 }, (_, i): Step => [i * 5, i % 3 ? 'good' : 'bad', 'closed']),
    ],
    [
      'forgets failures that are a second old',
      [
        ...over(0, 400, 25, 'bad', 'closed').flatMap((step, i): Step[] =>
          i % 2 ? [[step[0], 'good', 'closed']] : [step],
        ),
        [1500, 'bad', 'closed'],
        ...over(1501, 1700, 10, 'good', 'closed'),
        [1750, 'bad', 'closed'],
      ],
    ],
    [
      'asks nobody until the first probe',
      [
        ...opened,
        [6, 'turned away', 'open'],
        [79, 'turned away', 'open'],
        [80, 'begin', 'half-open'],
      ],
    ],
    [
      'lets one probe through at a time',
      [...opened, [80, 'begin', 'half-open'], [81, 'turned away', 'half-open']],
    ],
    [
      'closes after two good probes, the second of which may come at once',
      [...opened, [80, 'good', 'half-open'], [80, 'good', 'closed'], [81, 'good', 'closed']],
    ],
    [
      'opens again after a bad probe, for longer',
      [
        ...opened,
        [80, 'bad', 'open'],
        [80 + 149, 'turned away', 'open'],
        [80 + 150, 'bad', 'open'],
        [230 + 299, 'turned away', 'open'],
        [230 + 300, 'bad', 'open'],
      ],
    ],
    [
      'never waits longer than the last probe',
      [
        ...opened,
        [80, 'bad', 'open'],
        [230, 'bad', 'open'],
        [530, 'bad', 'open'],
        [830, 'bad', 'open'],
        [1130, 'bad', 'open'],
        [1430, 'begin', 'half-open'],
      ],
    ],
    [
      'opens again when the second probe is bad',
      [...opened, [80, 'good', 'half-open'], [81, 'bad', 'open'], [82, 'turned away', 'open']],
    ],
    [
      'needs five failures again after it has closed',
      [
        ...opened,
        [80, 'good', 'half-open'],
        [80, 'good', 'closed'],
        ...over(81, 85, 1, 'bad', 'closed'),
        [85, 'bad', 'open'],
      ],
    ],
    [
      'hears nothing from calls of an earlier state: neither a late failure',
      [
        [0, 'begin', 'closed'],
        [0, 'begin', 'closed'],
        ...opened,
        [6, 'end bad', 'open'],
        [79, 'turned away', 'open'],
        [80, 'good', 'half-open'],
        [80, 'end bad', 'half-open'],
        [80, 'good', 'closed'],
      ],
    ],
    [
      'nor a late success',
      [
        [0, 'begin', 'closed'],
        ...opened,
        [80, 'good', 'half-open'],
        [81, 'end good', 'half-open'],
        [82, 'good', 'closed'],
      ],
    ],
    [
      'gives the probe to the next when one withdraws',
      [
        ...opened,
        [80, 'begin', 'half-open'],
        [81, 'withdraw', 'half-open'],
        [82, 'begin', 'half-open'],
        [82, 'turned away', 'half-open'],
      ],
    ],
    [
      'forgets a probe that nobody reports on',
      [
        ...opened,
        [80, 'begin', 'half-open'],
        [10_079, 'turned away', 'half-open'],
        [10_080, 'good', 'half-open'],
        [10_081, 'good', 'closed'],
        [10_082, 'end bad', 'closed'],
      ],
    ],
    [
      'probes at once when the store says that it is back',
      [...opened, [10, 'hint', 'open'], [10, 'begin', 'half-open']],
    ],
    ['takes no hint for more than that', [[0, 'hint', 'closed'], ...opened]],
    [
      'does as told: failures',
      [
        [1, 'bad', 'closed'],
        [2, 'bad', 'open'],
      ],
      { failures: 2 },
    ],
    [
      'does as told: ratio and calls',
      [[0, 'bad', 'closed'], ...over(10, 300, 100, 'good', 'closed'), [300, 'bad', 'open']],
      { ratio: 0.4, calls: 5 },
    ],
    [
      'does as told: probes',
      [
        ...opened,
        [754, 'turned away', 'open'],
        [755, 'bad', 'open'],
        [1504, 'turned away', 'open'],
        [1505, 'begin', 'half-open'],
      ],
      { firstProbe: 1000, lastProbe: 1000 },
    ],
    [
      'works on when the clock has gone back',
      [...over(1_000_000, 1_000_004, 1, 'bad', 'closed'), [5, 'bad', 'open']],
    ],
  ])('%s', (_, steps, options) => {
    expect(play(steps, options)).toEqual(steps.map(([, , state]) => state))
  })

  it('spreads its probes: between half and all of the time', () => {
    const probeAfter = (random: number): number => {
      const breaker = new BreakerMachine()
      for (let at = 1; at <= 5; at++) breaker.failed(breaker.enter(at), at, random)
      return breaker.nextProbe(5)
    }
    expect([0, 0.5, 0.999].map(probeAfter)).toEqual([50, 75, 100])
  })

  it('never says that the next probe is now', () => {
    const breaker = new BreakerMachine({ failures: 1 })
    breaker.failed(breaker.enter(1), 1, 0)
    expect([breaker.nextProbe(1), breaker.nextProbe(51), breaker.nextProbe(9999)]).toEqual([
      50, 1, 1,
    ])
  })

  it('whatever happens, lets one probe through at a time and asks again within the longest wait', () => {
    const step = fc.record({
      wait: fc.integer({ min: 0, max: 150 }),
      end: fc.constantFrom('good', 'bad', 'withdraw', 'none'),
      random: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const breaker = new BreakerMachine()
        let now = 0
        let probes: number[] = []
        let lastAsked = 0
        let longest = 0
        for (const { wait, end, random } of steps) {
          now += wait
          const { state } = breaker
          const entry = breaker.enter(now)
          if (entry !== NO_ENTRY) lastAsked = now
          const isAlone = entry === NO_ENTRY && probes.length === 0
          longest = Math.max(longest, isAlone ? now - lastAsked : 0)
          if (entry !== NO_ENTRY && state !== 'closed') probes.push(entry)
          expect(probes.length).toBeLessThanOrEqual(1)
          const done = probes[0] ?? entry
          if (end === 'none' || done === NO_ENTRY) continue
          probes = []
          if (end === 'good') breaker.succeeded(done)
          else if (end === 'bad') breaker.failed(done, now, random)
          else breaker.withdrew(done)
        }
        expect(longest).toBeLessThanOrEqual(400)
      }),
    )
  })
})
