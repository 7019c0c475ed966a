import { describe, expect, it, vi } from 'vitest'
import { fakeTimers } from '../testing/fake-timers.ts'
import { sleep, runtimeTimers } from './timers.ts'

describe('sleep', () => {
  it('waits the full time even if its timers fire early', async () => {
    const timers = fakeTimers()
    const early = { ...timers, set: (run: () => void, after: number) => timers.set(run, after / 2) }
    let isOver = false
    void sleep(early, 1000).then(() => (isOver = true))
    await timers.advance(998)
    expect(isOver).toBe(false)
    await timers.advance(2)
    expect(isOver).toBe(true)
  })

  it('shares one listener between thousands of waits on one signal', async () => {
    const timers = fakeTimers()
    const warnings: string[] = []
    const note = (warning: Error): void => void warnings.push(warning.message)
    process.on('warning', note)
    const control = new AbortController()
    const sleeps = Array.from({ length: 20_000 }, (_, i) =>
      sleep(timers, i % 2 === 0 ? 10 : 1000, control.signal).then(
        () => 'slept',
        (error: Error) => error.message,
      ),
    )
    await timers.advance(0)
    expect(timers.pending).toBe(20_000)
    control.abort(new Error('up'))
    expect(new Set(await Promise.all(sleeps))).toEqual(new Set(['up']))
    expect(timers.pending).toBe(0)
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', note)
    expect(warnings).toEqual([])
  })

  it('removes its listener when the time is over', async () => {
    const timers = fakeTimers()
    const control = new AbortController()
    const first = sleep(timers, 10, control.signal)
    const second = sleep(timers, 1000, control.signal).catch((error: Error) => error.message)
    await timers.advance(10)
    await first
    control.abort(new Error('up'))
    expect(await second).toBe('up')
    await expect(sleep(timers, 5, control.signal)).rejects.toThrow('up')
  })
})

describe('runtimeTimers', () => {
  it('never sets a timer beyond the longest delay of the runtime', () => {
    // Node fires at once, with a warning, for a longer delay.
    const set = vi.spyOn(globalThis, 'setTimeout')
    for (const after of [2 ** 40, -1]) runtimeTimers.clear(runtimeTimers.set(() => {}, after))
    expect(set.mock.calls.map(([, delay]) => delay)).toEqual([2 ** 31 - 1, 0])
    set.mockRestore()
  })
})
