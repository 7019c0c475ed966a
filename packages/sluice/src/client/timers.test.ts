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

  it('thousands on one signal: one listener, no warning, and all end together', async () => {
    const timers = fakeTimers()
    const warnings: string[] = []
    const hear = (warning: Error): void => void warnings.push(warning.message)
    process.on('warning', hear)
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
    process.off('warning', hear)
    expect(warnings).toEqual([])
  })

  it('one that ends by itself leaves its signal alone', async () => {
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
