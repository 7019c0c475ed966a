import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  CircuitBreaker,
  NO_ENTRY,
  type BreakerOptions,
  type BreakerState,
} from './circuit-breaker.ts'

/** A breaker whose time and chance the test sets. */
function breakerAt(options: BreakerOptions = {}) {
  const world = { now: 0, random: 0.5 }
  const breaker = new CircuitBreaker(options, {
    clock: () => world.now,
    random: () => world.random,
    onEvent: () => {},
  })
  return { breaker, world }
}

/** What happens at an instant, and the state after it. */
type Step = readonly [at: number, what: What, state: BreakerState]
type What =
  | 'good'
  | 'bad'
  | 'many bad' // at one instant
  | 'refused'
  | 'begin' // a call that ends later
  | 'end good'
  | 'end bad'
  | 'withdraw'
  | 'hint'

/** Plays a story; chance is always in the middle, so that the first probe comes 75 ms after opening. */
function play(steps: readonly Step[], options: BreakerOptions = {}): readonly BreakerState[] {
  const { breaker, world } = breakerAt(options)
  const begun: number[] = []
  const entered = (): number => {
    const entry = breaker.enter()
    expect(entry, `a call goes out at ${world.now}`).not.toBe(NO_ENTRY)
    return entry
  }
  const does: Record<What, () => void> = {
    good: () => breaker.succeeded(entered()),
    bad: () => breaker.failed(entered(), 'error'),
    'many bad': () => {
      const entries = Array.from({ length: 64 }, () => breaker.enter())
      for (const entry of entries) breaker.failed(entry, 'error')
    },
    refused: () => expect(breaker.enter(), `no call goes out at ${world.now}`).toBe(NO_ENTRY),
    begin: () => void begun.push(entered()),
    'end good': () => breaker.succeeded(begun.shift()!),
    'end bad': () => breaker.failed(begun.shift()!, 'error'),
    withdraw: () => breaker.cancelled(begun.shift()!),
    hint: () => breaker.noteReachable(),
  }
  return steps.map(([at, what]) => {
    world.now = at
    does[what]()
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
      'lets no call out until the first probe',
      [...opened, [6, 'refused', 'open'], [79, 'refused', 'open'], [80, 'begin', 'half-open']],
    ],
    [
      'lets one probe through at a time',
      [...opened, [80, 'begin', 'half-open'], [81, 'refused', 'half-open']],
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
        [80 + 149, 'refused', 'open'],
        [80 + 150, 'bad', 'open'],
        [230 + 299, 'refused', 'open'],
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
      [...opened, [80, 'good', 'half-open'], [81, 'bad', 'open'], [82, 'refused', 'open']],
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
      'ignores results of calls of an earlier state: neither a late failure',
      [
        [0, 'begin', 'closed'],
        [0, 'begin', 'closed'],
        ...opened,
        [6, 'end bad', 'open'],
        [79, 'refused', 'open'],
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
        [82, 'refused', 'half-open'],
      ],
    ],
    [
      'forgets a probe without a result',
      [
        ...opened,
        [80, 'begin', 'half-open'],
        [10_079, 'refused', 'half-open'],
        [10_080, 'good', 'half-open'],
        [10_081, 'good', 'closed'],
        [10_082, 'end bad', 'closed'],
      ],
    ],
    [
      'probes at once when the store says that it is back',
      [...opened, [10, 'hint', 'open'], [10, 'begin', 'half-open']],
    ],
    [
      'sends another probe after a hint, and does not wait for the one on its way',
      [
        ...opened,
        [10, 'hint', 'open'],
        [10, 'begin', 'half-open'],
        [20, 'hint', 'half-open'],
        [20, 'good', 'half-open'],
        [21, 'end bad', 'half-open'],
        [22, 'good', 'closed'],
      ],
    ],
    [
      'does not open again for a probe that left before the hint',
      [
        ...opened,
        [10, 'hint', 'open'],
        [10, 'begin', 'half-open'],
        [20, 'hint', 'half-open'],
        [30, 'end bad', 'half-open'],
        [31, 'good', 'half-open'],
        [32, 'good', 'closed'],
      ],
    ],
    ['takes no hint for more than that', [[0, 'hint', 'closed'], ...opened]],
    [
      'follows its options: failures',
      [
        [1, 'bad', 'closed'],
        [2, 'bad', 'open'],
      ],
      { failures: 2 },
    ],
    [
      'follows its options: ratio and calls',
      [[0, 'bad', 'closed'], ...over(10, 300, 100, 'good', 'closed'), [300, 'bad', 'open']],
      { ratio: 0.4, calls: 5 },
    ],
    [
      'follows its options: probes',
      [
        ...opened,
        [754, 'refused', 'open'],
        [755, 'bad', 'open'],
        [1504, 'refused', 'open'],
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
      const { breaker, world } = breakerAt()
      world.random = random
      for (world.now = 1; world.now <= 5; world.now++) breaker.failed(breaker.enter(), 'error')
      world.now = 5
      return breaker.refusal().retryAfter
    }
    expect([0, 0.5, 0.999].map(probeAfter)).toEqual([50, 75, 100])
  })

  it('never says that the next probe is now', () => {
    const { breaker, world } = breakerAt({ failures: 1 })
    world.random = 0
    world.now = 1
    breaker.failed(breaker.enter(), 'error')
    const waits = [1, 51, 9999].map((now) => {
      world.now = now
      return breaker.refusal().retryAfter
    })
    expect(waits).toEqual([50, 1, 1])
  })

  it('whatever happens, lets one probe through at a time and probes again within the longest wait', () => {
    const step = fc.record({
      wait: fc.integer({ min: 0, max: 150 }),
      end: fc.constantFrom('good', 'bad', 'withdraw', 'none'),
      random: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const { breaker, world } = breakerAt()
        let probes: number[] = []
        let lastAsked = 0
        let longest = 0
        for (const { wait, end, random } of steps) {
          world.now += wait
          world.random = random
          const { now } = world
          const { state } = breaker
          const entry = breaker.enter()
          if (entry !== NO_ENTRY) lastAsked = now
          const isAlone = entry === NO_ENTRY && probes.length === 0
          longest = Math.max(longest, isAlone ? now - lastAsked : 0)
          if (entry !== NO_ENTRY && state !== 'closed') probes.push(entry)
          expect(probes.length).toBeLessThanOrEqual(1)
          const done = probes[0] ?? entry
          if (end === 'none' || done === NO_ENTRY) continue
          probes = []
          if (end === 'good') breaker.succeeded(done)
          else if (end === 'bad') breaker.failed(done, 'error')
          else breaker.cancelled(done)
        }
        expect(longest).toBeLessThanOrEqual(400)
      }),
    )
  })
})
