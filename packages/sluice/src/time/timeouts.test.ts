import { describe, expect, it } from 'vitest'
import { VirtualTime } from '../../test/simulation/virtual-time.ts'
import { Timeouts } from './timeouts.ts'

/** Items that expire a hundred milliseconds after they come; what expired is written down. */
function start(): {
  time: VirtualTime
  come: () => { deadline: number }
  gone: string[]
  timeouts: Timeouts<{ deadline: number }>
} {
  const time = new VirtualTime(0)
  const gone: string[] = []
  const timeouts = new Timeouts<{ deadline: number }>(
    time.clock,
    (item) => {
      gone.push(`${item.deadline} at ${time.now}`)
      timeouts.remove(item)
    },
    time.timers,
  )
  const come = (): { deadline: number } => {
    const item = { deadline: time.now + 100 }
    timeouts.add(item)
    return item
  }
  return { time, come, gone, timeouts }
}

describe('timeouts', () => {
  it('tell of each deadline when it passes', async () => {
    const { time, come, gone } = start()
    for (const at of [0, 30, 31]) time.at(at, come)
    await time.pass(1000)
    expect(gone).toEqual(['100 at 100', '130 at 130', '131 at 131'])
  })

  it('tell nothing of what was removed, and leave no timer behind', async () => {
    const { time, come, gone, timeouts } = start()
    timeouts.remove(come())
    expect(await time.step()).toBe(false)
    expect(gone).toEqual([])
  })

  it('keep an item from waiting twice when another comes in the turn that answers are given', async () => {
    const { time, come, gone } = start()
    come()
    time.at(50, come)
    // After the timer of the first has fired, before its turn is over.
    time.at(100, come)
    await time.pass(1000)
    expect(gone).toEqual(['100 at 100', '150 at 150', '200 at 200'])
  })

  it('give one turn to what arrives after a late timer', async () => {
    const { time, come, gone, timeouts } = start()
    const item = come()
    time.now = 5000
    time.at(5000, () => timeouts.remove(item))
    await time.pass(10)
    expect(gone).toEqual([])
  })
})
