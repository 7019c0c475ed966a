import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { sharedClock, systemClock } from './clock.ts'

const START = 1_800_000_000_000

describe('systemClock', () => {
  it('reads whole milliseconds since the epoch, and never goes back', () => {
    let last = systemClock()
    expect(Math.abs(last - Date.now())).toBeLessThan(60_000)
    for (let i = 0; i < 100_000; i++) {
      const now = systemClock()
      if (now < last || !Number.isSafeInteger(now)) throw new Error(`${last}, then ${now}`)
      last = now
    }
  })

  it('does not move when the time of the system is set', () => {
    const before = systemClock()
    const date = vi.spyOn(Date, 'now').mockReturnValue(0)
    expect(systemClock()).toBeGreaterThanOrEqual(before)
    date.mockRestore()
  })
})

/** The time that a shared clock reads, and how often it has read it. */
class Source {
  time = START
  reads = 0
  readonly clock = sharedClock(() => {
    this.reads += 1
    return this.time
  })
}

/** Ends the synchronous run. */
const turn = (): Promise<void> => Promise.resolve()

/** Makes a shared clock busy: 256 readings of one millisecond. Returns the readings of `more` calls after that. */
function busy(source: Source, more: number): number {
  for (let i = 0; i < 256; i++) source.clock()
  const before = source.reads
  for (let i = 0; i < more; i++) source.clock()
  return source.reads - before
}

describe('sharedClock', () => {
  it('reads for every decision until 256 came in one millisecond', () => {
    const source = new Source()
    const before = source.reads
    for (let i = 1; i <= 256; i++) {
      source.clock()
      expect(source.reads - before).toBe(i)
    }
  })

  it('then reads once for 64 decisions', () => {
    expect(busy(new Source(), 63)).toBe(0)
    expect(busy(new Source(), 64)).toBe(1)
    expect(busy(new Source(), 6400)).toBe(100)
  })

  it('never shares while every millisecond brings fewer', () => {
    const source = new Source()
    for (let i = 0; i < 10_000; i++) {
      if (i % 200 === 0) source.time += 1
      expect(source.clock()).toBe(source.time)
    }
  })

  it('forgets the reading when the synchronous run ends', async () => {
    const source = new Source()
    busy(source, 10)
    source.time += 5
    expect(source.clock()).toBe(START)
    await turn()
    expect(source.clock()).toBe(START + 5)
  })

  it('counts what Node runs before microtasks to the same run, for 64 decisions at most', async () => {
    const source = new Source()
    const seen = await new Promise<number[]>((resolve) => {
      setImmediate(() => {
        busy(source, 10)
        source.time += 5
        process.nextTick(() => resolve(Array.from({ length: 60 }, () => source.clock())))
      })
    })
    expect(seen.slice(0, 53)).toEqual(Array.from({ length: 53 }, () => START))
    expect(seen.slice(53)).toEqual(Array.from({ length: 7 }, () => START + 5))
  })

  it('lets a long loop see time pass, at most 63 decisions late', () => {
    const source = new Source()
    busy(source, 0)
    let late = 0
    for (let i = 0; i < 10_000; i++) {
      source.time += 3
      const behind = (source.time - source.clock()) / 3
      late = Math.max(late, behind)
    }
    expect(late).toBe(63)
  })

  it('shows the time as it is to a loop that has become slow', () => {
    const source = new Source()
    busy(source, 10_000)
    let stale = 0
    for (let i = 0; i < 10_000; i++) {
      source.time += 3
      if (source.clock() !== source.time) stale += 1
    }
    expect(stale).toBeLessThan(64)
  })

  it('shows the time as it is to runs of a few decisions', async () => {
    const source = new Source()
    busy(source, 0)
    await turn()
    for (let i = 0; i < 2000; i++) {
      source.time += i % 2
      expect([source.clock(), source.clock()]).toEqual([source.time, source.time])
      await turn()
    }
  })

  it('queues no more than one microtask in a run', () => {
    const queue = vi.spyOn(globalThis, 'queueMicrotask')
    busy(new Source(), 0)
    expect(queue).toHaveBeenCalledTimes(1)
    busy(new Source(), 10_000)
    expect(queue).toHaveBeenCalledTimes(2)
    queue.mockRestore()
  })

  it('queues none when it is not busy', () => {
    const queue = vi.spyOn(globalThis, 'queueMicrotask')
    const source = new Source()
    for (let i = 0; i < 255; i++) source.clock()
    expect(queue).not.toHaveBeenCalled()
    queue.mockRestore()
  })

  it('gives a reading of this run, among the last 64, that never goes back', async () => {
    const step = fc.record({
      calls: fc.integer({ min: 0, max: 700 }),
      every: fc.integer({ min: 1, max: 500 }),
      turns: fc.boolean(),
    })
    const walk = fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const source = new Source()
      const wrong: object[] = []
      let run: number[] = []
      let last = START
      let count = 0
      for (const { calls, every, turns } of steps) {
        for (let i = 0; i < calls; i++) {
          if (++count % every === 0) source.time += 1
          run.push(source.time)
          const now = source.clock()
          const least = Math.max(last, run.at(-64) ?? run[0]!)
          if (now < least || now > source.time) wrong.push({ now, least, most: source.time })
          last = now
        }
        if (!turns) continue
        await turn()
        run = []
      }
      expect(wrong).toEqual([])
    })
    await fc.assert(walk, { numRuns: 50 })
  })
})
