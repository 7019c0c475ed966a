// One simulated clock for clients and real servers on loopback. It stands still while a request is in flight, so that
// no result depends on the speed of the machine.
import { onTestFinished, vi } from 'vitest'
import type { Fetch } from '../../src/client/polite.ts'
import { type FakeTimers, fakeTimers } from '../../src/testing/fake-timers.ts'
import { seeded } from './simulated-server.ts'

/** How far the clock moves at once. */
const STEP = 20

export interface OneClock {
  /** The timers of clients; servers take their time from its clock, or from `Date`. */
  readonly timers: FakeTimers
  /** Sends requests over real connections; one way takes 5 to 25 ms of the clock. */
  readonly fetch: Fetch
  /** Moves the clock on. */
  readonly advance: (millis: number) => Promise<void>
  /** Moves the clock on until the promise has settled, and returns its value. */
  readonly settled: <T>(promise: Promise<T>) => Promise<T>
}

/** Installs the clock until the end of the test, also for `Date` and intervals, by which express-rate-limit counts. */
export function oneClock(): OneClock {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const timers = fakeTimers(1_800_000_000_000)
  vi.setSystemTime(timers.clock())
  const random = seeded(20_261_116)
  const oneWay = (): Promise<void> =>
    new Promise((resolve) => void timers.set(resolve, 5 + 20 * random()))
  let arriving: Promise<unknown> = Promise.resolve()
  const step = async (): Promise<void> => {
    await timers.advance(STEP)
    vi.advanceTimersByTime(STEP)
    await arriving
  }
  return {
    timers,
    async fetch(input, init) {
      await oneWay()
      const answer = fetch(input, init)
      arriving = Promise.allSettled([arriving, answer])
      const response = await answer
      await oneWay()
      return response
    },
    async advance(millis) {
      for (let passed = 0; passed < millis; passed += STEP) await step()
    },
    async settled(promise) {
      let isSettled = false
      const settle = (): void => void (isSettled = true)
      promise.then(settle, settle)
      while (!isSettled) await step()
      return promise
    },
  }
}
