// Traps of token bucket, GCRA and leaky bucket, found in published limiters.
import { describe, expect, it } from 'vitest'
import { limit } from '../src/limit/limit.ts'
import { memoryStore } from '../src/stores/memory/memory-store.ts'
import { fakeClock } from '../src/testing/fake-clock.ts'
import { inMemory } from './in-memory.ts'

const NOW = 1_800_000_000_000

describe.each(['token-bucket', 'gcra', 'leaky-bucket'] as const)('%s', (algorithm) => {
  it('trap: whole tokens are refilled and the clock moves on: a fast poller starves', () => {
    const key = inMemory('1/s', { algorithm })
    key.take(NOW)
    // A hundred refused polls, each of which would round its ten thousandths away.
    for (let at = 10; at < 1000; at += 10) expect(key.take(NOW + at).allowed).toBe(false)
    expect(key.take(NOW + 1000).allowed).toBe(true)
  })

  it('trap: tokens are stored rounded down: allowed requests lose the fraction', () => {
    const key = inMemory('10/s', { algorithm })
    key.take(NOW, 9)
    // 1 and 0.5 come to 1.5; one is taken, and the half is still there 50 ms later.
    expect(key.take(NOW + 50).remaining).toBe(0)
    expect(key.take(NOW + 100).allowed).toBe(true)
    expect(key.take(NOW + 199).allowed).toBe(false)
    expect(key.take(NOW + 200).allowed).toBe(true)
  })

  it('trap: no cap: idle time fills the bucket above its burst', () => {
    const key = inMemory('10/s', { algorithm, burst: 5 })
    key.take(NOW, 1)
    expect(key.peek(NOW + 3_600_000).remaining).toBe(5)
    expect(key.take(NOW + 3_600_000, 6).allowed).toBe(false)
  })

  it('trap: the burst is the rate', () => {
    const key = inMemory('10/s', { algorithm, burst: 30 })
    expect(key.take(NOW, 30).allowed).toBe(true)
    expect(key.take(NOW + 1000, 11).allowed).toBe(false)
    expect(key.take(NOW + 1000, 10).allowed).toBe(true)
  })

  it('trap: the bucket begins empty', () => {
    expect(inMemory('10/s', { algorithm }).take(NOW, 10).allowed).toBe(true)
  })

  it('trap: the state is forgotten after one window: a drained slow bucket comes back full', () => {
    const clock = fakeClock(NOW)
    const store = memoryStore({ clock })
    const made = limit('1/s', { algorithm, burst: 100 })
    const check = (key: string, cost: number) => [{ space: 's', key, limit: made, cost }]
    store.take(check('key', 100))
    clock.set(NOW + 20_000)
    // New keys make the store look for expired ones.
    for (let i = 0; i < 1000; i++) store.take(check(`other ${i}`, 1))
    expect(store.peek(check('key', 1))[0]!.remaining).toBe(20)
  })

  it('trap: remaining is rounded up, or taken before the deduction', () => {
    const key = inMemory('10/s', { algorithm })
    expect(key.take(NOW, 3).remaining).toBe(7)
    expect(key.peek(NOW + 99).remaining).toBe(7)
    expect(key.peek(NOW + 100).remaining).toBe(8)
  })

  it('trap: remaining is 0 because an expensive request was refused', () => {
    const key = inMemory('10/s', { algorithm })
    key.take(NOW, 3)
    expect(key.take(NOW, 8)).toMatchObject({ allowed: false, remaining: 7 })
    expect(key.take(NOW, 7).allowed).toBe(true)
  })

  it('trap: refusals pay, or push the arrival time', () => {
    const key = inMemory('10/s', { algorithm })
    key.take(NOW, 10)
    for (let i = 0; i < 1000; i++) key.take(NOW, 5)
    expect(key.take(NOW).retryAfter).toBe(100)
    expect(key.take(NOW + 500, 5).allowed).toBe(true)
  })

  it('trap: the arrival time stays behind the clock: idle time becomes burst', () => {
    const key = inMemory('10/s', { algorithm, burst: 3 })
    key.take(NOW)
    const at = NOW + 60_000
    const answers = Array.from({ length: 5 }, () => key.take(at).allowed)
    expect(answers).toEqual([true, true, true, false, false])
  })

  it.each([1, 2, 5])('trap: the burst is off by one (%i at once)', (burst) => {
    const key = inMemory('10/s', { algorithm, burst })
    let at = 0
    while (at < 10 && key.take(NOW).allowed) at += 1
    expect(at).toBe(burst)
  })

  it('trap: the time of one unit is cut to whole milliseconds', () => {
    // 3 units in 7 ms are 2.33 ms each; cut to 2 they would give 3.5 in that time.
    const key = inMemory('3/7ms', { algorithm, burst: 1 })
    let allowed = 0
    for (let at = 0; at < 7000; at++) if (key.take(NOW + at).allowed) allowed += 1
    // At whole milliseconds a burst of one goes each third.
    expect(allowed).toBe(2334)
    const wide = inMemory('3/7ms', { algorithm, burst: 3 })
    let more = 0
    for (let at = 0; at < 28_000; at++) if (wide.take(NOW + Math.floor(at / 4)).allowed) more += 1
    expect(more).toBe(3002)
  })

  it('trap: rates above one unit per millisecond do not work', () => {
    const key = inMemory('5000/s', { algorithm, burst: 5000 })
    key.take(NOW, 5000)
    expect(key.take(NOW + 1, 6)).toMatchObject({ allowed: false, remaining: 5, retryAfter: 1 })
    expect(key.take(NOW + 1, 5).allowed).toBe(true)
  })
})

describe('leaky bucket as a queue', () => {
  const queue = (rate: '5/s' | '1/s', burst: number) =>
    inMemory(rate, { algorithm: 'leaky-bucket', burst })

  it('trap: the delay counts those who wait and ignores the one in service', () => {
    const key = queue('5/s', 3)
    expect([key.take(NOW).delay, key.take(NOW).delay, key.take(NOW + 50).delay]).toEqual([
      0, 200, 350,
    ])
  })

  it('trap: the queue has no end', () => {
    const key = queue('5/s', 3)
    const answers = Array.from({ length: 100 }, () => key.take(NOW))
    expect(answers.filter(({ allowed }) => allowed)).toHaveLength(3)
    expect(Math.max(...answers.map(({ delay }) => delay))).toBe(400)
  })

  it('trap: idle time is saved up and lets a burst go on at once', () => {
    const key = queue('5/s', 3)
    key.take(NOW)
    const at = NOW + 3_600_000
    expect([key.take(at).delay, key.take(at).delay, key.take(at).delay]).toEqual([0, 200, 400])
  })

  it('trap: delays rounded down let requests go on too early', () => {
    const key = inMemory('3/s', { algorithm: 'leaky-bucket', burst: 3 })
    expect([key.take(NOW).delay, key.take(NOW).delay, key.take(NOW).delay]).toEqual([0, 334, 667])
  })

  it('trap: the place of a waiter that gave up is lost, or is worth more than it was', () => {
    const key = queue('1/s', 3)
    key.take(NOW)
    key.take(NOW)
    expect(key.take(NOW).delay).toBe(2000)
    expect(key.take(NOW).allowed).toBe(false)
    key.refund(NOW, 1, NOW)
    // The last in the queue gave up: the next one gets its place, and no better one.
    expect(key.take(NOW).delay).toBe(2000)
    expect(key.take(NOW).allowed).toBe(false)
    // Half a second later half a unit has drained; the other half may come back.
    key.refund(NOW + 500, 1, NOW)
    expect(key.peek(NOW + 500).delay).toBe(2000)
  })
})
