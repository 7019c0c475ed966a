import { describe, expect, it } from 'vitest'
import { VirtualTime } from '../../test/simulation/virtual-time.ts'
import { Timeouts } from './timeouts.ts'

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
  /** What was said of whether the process must live for the timer. */
  readonly held: boolean[] = []
  readonly timeouts = new Timeouts<Item>(
    this.time.clock,
    ({ deadline }) => void this.gone.push(`${deadline} at ${this.time.now}`),
    { ...this.time.timers, hold: (_, isHeld) => void this.held.push(isHeld) },
  )

  readonly come = (): Item => {
    const item = new Item(this.time.now + 100)
    this.timeouts.add(item)
    return item
  }
}

describe('timeouts', () => {
  it('tell of each deadline when it passes', async () => {
    const { time, come, gone } = new Line()
    for (const at of [0, 30, 31]) time.at(at, come)
    await time.pass(1000)
    expect(gone).toEqual(['100 at 100', '130 at 130', '131 at 131'])
  })

  it('tell nothing of what was removed, and leave no timer behind but one that fires once', async () => {
    const { time, come, gone, timeouts } = new Line()
    timeouts.remove(come())
    expect(await time.step()).toBe(true)
    expect(time.now).toBe(100)
    expect(await time.step()).toBe(false)
    expect(gone).toEqual([])
  })

  it('use the timer of those who have gone for those who come', async () => {
    const { time, come, gone, timeouts } = new Line()
    timeouts.remove(come())
    time.at(40, come)
    await time.pass(1000)
    expect(gone).toEqual(['140 at 140'])
  })

  it('hold the process only while somebody waits', () => {
    const { time, held, come, timeouts } = new Line()
    const one = come()
    timeouts.remove(one)
    expect(held).toEqual([false])
    const two = come()
    const three = come()
    timeouts.remove(two)
    expect(held).toEqual([false, true])
    timeouts.remove(three)
    expect(held).toEqual([false, true, false])
    expect(time.now).toBe(0)
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
})
