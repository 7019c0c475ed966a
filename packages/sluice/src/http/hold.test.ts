import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { MAX_TIMER_MS } from '../time/timers.ts'
import { hold, holdUntilAborted, holdUntilClosed } from './hold.ts'

const DAY = 86_400_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('a held request', () => {
  it.each([1, 5000, MAX_TIMER_MS, MAX_TIMER_MS + 1, 30 * DAY, 100 * DAY])(
    'goes on after %d ms, not before',
    (delay) => {
      const next = vi.fn<() => void>()
      hold(delay, next)
      vi.advanceTimersByTime(delay - 1)
      expect(next).not.toHaveBeenCalled()
      vi.advanceTimersByTime(1)
      expect(next).toHaveBeenCalledOnce()
    },
  )

  it('does not go on once it is cancelled, also after the first of several timers', () => {
    const next = vi.fn<() => void>()
    const cancel = hold(60 * DAY, next)
    vi.advanceTimersByTime(40 * DAY)
    cancel()
    vi.advanceTimersByTime(100 * DAY)
    expect(next).not.toHaveBeenCalled()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('does not go on when its client closes the connection', () => {
    const connection = Object.assign(new EventEmitter(), { closed: false })
    const [next, closed] = [vi.fn<() => void>(), vi.fn<() => void>()]
    holdUntilClosed(5000, connection, next, closed)
    connection.emit('close')
    vi.advanceTimersByTime(10_000)
    expect([next.mock.calls.length, closed.mock.calls.length]).toEqual([0, 1])
    holdUntilClosed(5000, Object.assign(connection, { closed: true }), next, closed)
    expect([next.mock.calls.length, closed.mock.calls.length]).toEqual([0, 2])
  })

  it('leaves no listener behind', () => {
    const connection = Object.assign(new EventEmitter(), { closed: false })
    const next = vi.fn<() => void>()
    holdUntilClosed(5000, connection, next)
    vi.advanceTimersByTime(5000)
    expect(next).toHaveBeenCalledOnce()
    expect(connection.listenerCount('close')).toBe(0)
  })

  it('ends with its signal', async () => {
    const leaving = new AbortController()
    const held = holdUntilAborted(5000, leaving.signal)
    leaving.abort()
    expect(await held).toBe(false)
    expect(await holdUntilAborted(5000, leaving.signal)).toBe(false)
    const patient = holdUntilAborted(5000, new AbortController().signal)
    vi.advanceTimersByTime(5000)
    expect(await patient).toBe(true)
  })
})
