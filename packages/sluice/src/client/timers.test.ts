import { describe, expect, it } from 'vitest'
import { fakeTimers } from '../testing/fake-timers.ts'
import { sleep, systemTimers } from './timers.ts'

describe('sleep', () => {
  it('waits as long as told, however early its timers are', async () => {
    const timers = fakeTimers()
    const early = { ...timers, set: (run: () => void, after: number) => timers.set(run, after / 2) }
    let isOver = false
    void sleep(early, 1000).then(() => (isOver = true))
    await timers.advance(998)
    expect(isOver).toBe(false)
    await timers.advance(2)
    expect(isOver).toBe(true)
  })

  it('goes on beyond the longest wait of the runtime', async () => {
    // Node would fire at once, with a warning.
    const timer = systemTimers.set(() => expect.unreachable(), 2 ** 40)
    await sleep(systemTimers, 5)
    systemTimers.clear(timer)
    expect(systemTimers.wall()).toBeGreaterThan(0)
  })
})
