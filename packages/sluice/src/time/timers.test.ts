import { describe, expect, it, vi } from 'vitest'
import { VirtualTime } from '../../test/simulation/virtual-time.ts'
import { afterTurn, Timeouts } from './timers.ts'

class Item {
  readonly deadline: number
  before: Item | null = null
  after: Item | null = null

  constructor(deadline: number) {
    this.deadline = deadline
  }
}

/** Items that expire a hundred milliseconds after they come; what expired is written down. */
class Line {
  readonly time = new VirtualTime(0)
  readonly gone: string[] = []
  readonly timeouts = new Timeouts<Item>(
    this.time.clock,
    ({ deadline }) => void this.gone.push(`${deadline} at ${this.time.now}`),
    this.time.timers,
  )

  readonly come = (): Item => {
    const item = new Item(this.time.now + 100)
    this.timeouts.add(item)
    return item
  }
}

describe('timeouts', () => {
  it('report each deadline when it passes', async () => {
    const { time, come, gone } = new Line()
    for (const at of [0, 30, 31]) time.at(at, come)
    await time.pass(1000)
    expect(gone).toEqual(['100 at 100', '130 at 130', '131 at 131'])
  })

  it('report nothing that was removed, and leave no timer behind', async () => {
    const { time, come, gone, timeouts } = new Line()
    timeouts.remove(come())
    expect(await time.step()).toBe(false)
    expect(gone).toEqual([])
  })

  it.each([
    [[0], ['101 at 101', '102 at 102']],
    [[1], ['100 at 100', '102 at 102']],
    [[2], ['100 at 100', '101 at 101']],
    [[0, 2], ['101 at 101']],
    [[2, 1, 0], []],
  ])('forget items from anywhere in the line: %j', async (removed, left) => {
    const { time, come, gone, timeouts } = new Line()
    const items: Item[] = []
    for (const at of [0, 1, 2]) time.at(at, () => void items.push(come()))
    await time.pass(50)
    for (const i of removed) timeouts.remove(items[i]!)
    await time.pass(100)
    expect(gone).toEqual(left)
    expect(items.flatMap(({ before, after }) => [before, after])).toEqual(
      Array.from({ length: 6 }, () => null),
    )
  })

  it('keep an item from waiting twice when another comes in the turn that answers are given', async () => {
    const { time, come, gone } = new Line()
    come()
    time.at(50, come)
    // After the timer of the first has fired, before its turn is over.
    time.at(100, come)
    await time.pass(1000)
    expect(gone).toEqual(['100 at 100', '150 at 150', '200 at 200'])
  })

  it('give one turn to what arrives after a late timer', async () => {
    const { time, come, gone, timeouts } = new Line()
    const item = come()
    time.now = 5000
    time.at(5000, () => timeouts.remove(item))
    await time.pass(10)
    expect(gone).toEqual([])
  })

  it('keep one timer for calls that are alone, and let the process end between them', async () => {
    const time = new VirtualTime(0)
    const gone: number[] = []
    const log: string[] = []
    const timeouts = new Timeouts<Item>(time.clock, ({ deadline }) => void gone.push(deadline), {
      ...time.timers,
      start(run, after) {
        log.push(`start ${after}`)
        const timer = time.timers.start(run, after) as object
        const unref = (): number => log.push('unref')
        const ref = (): number => log.push('ref')
        return Object.assign(timer, { unref, ref })
      },
    })
    for (const at of [0, 10, 20]) {
      time.at(at, () => {
        const item = new Item(at + 100)
        timeouts.add(item)
        if (at < 20) timeouts.remove(item)
      })
    }
    await time.pass(1000)
    expect(log).toEqual(['start 100', 'unref', 'ref', 'unref', 'ref', 'start 20'])
    expect(gone).toEqual([120])
  })
})

describe('afterTurn', () => {
  it('uses the function that the runtime has now, not the one that it had when this file was loaded', () => {
    const setImmediate = vi.fn<(run: () => void) => void>()
    vi.stubGlobal('setImmediate', setImmediate)
    const run = () => {}
    afterTurn(run)
    vi.unstubAllGlobals()
    expect(setImmediate).toHaveBeenCalledExactlyOnceWith(run)
  })
})
