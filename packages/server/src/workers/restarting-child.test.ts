import type { ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { RestartingChild, type RestartingChildOptions } from './restarting-child.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A process that runs nothing: tests say what happens to it. */
class FakeProcess extends EventEmitter {
  readonly pid: number
  readonly connected = true
  readonly sent: object[] = []
  readonly signals: string[] = []

  constructor(pid: number) {
    super()
    this.pid = pid
  }

  send(message: object): void {
    this.sent.push(message)
  }

  kill(signal: string): void {
    this.signals.push(signal)
    if (signal === 'SIGKILL') this.emit('exit', null, signal)
  }

  say(type: string): void {
    this.emit('message', { type })
  }
}

function kept(options: Partial<RestartingChildOptions> = {}) {
  const processes: FakeProcess[] = []
  const ends: string[] = []
  const child = new RestartingChild({
    start: () => {
      const process = new FakeProcess(processes.length + 1)
      processes.push(process)
      return process as unknown as ChildProcess
    },
    onEnd: (pid, how, failures) => void ends.push(`${pid}: ${how}, ${failures}`),
    ...options,
  })
  return { child, processes, ends, last: () => processes.at(-1)! }
}

describe('a child process', () => {
  test('is restarted after 100 ms when it was settled, each time', () => {
    const { child, processes, ends, last } = kept()
    for (let round = 1; round <= 3; round++) {
      last().say('ready')
      vi.advanceTimersByTime(10_000)
      last().emit('exit', null, 'SIGSEGV')
      expect([child.isReady, child.pid]).toEqual([false, undefined])
      vi.advanceTimersByTime(99)
      expect(processes).toHaveLength(round)
      vi.advanceTimersByTime(1)
      expect(processes).toHaveLength(round + 1)
    }
    expect(ends).toEqual(['1: SIGSEGV, 1', '2: SIGSEGV, 1', '3: SIGSEGV, 1'])
  })

  test('waits twice as long after each failure in a row, up to 10 s', () => {
    const { processes, ends, last } = kept()
    for (const wait of [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]) {
      const before = processes.length
      last().emit('exit', 3, null)
      vi.advanceTimersByTime(wait - 1)
      expect(processes).toHaveLength(before)
      vi.advanceTimersByTime(1)
      expect(processes).toHaveLength(before + 1)
    }
    expect(ends.at(-1)).toBe('9: exit code 3, 9')
  })

  test('that cannot be started at all is tried again', () => {
    const processes: EventEmitter[] = []
    kept({
      start: () => {
        const process = Object.assign(new EventEmitter(), { pid: undefined })
        processes.push(process)
        return process as unknown as ChildProcess
      },
    })
    processes[0]!.emit('error', new Error('EAGAIN'))
    vi.advanceTimersByTime(100)
    expect(processes).toHaveLength(2)
  })

  test('is not restarted after a stop', async () => {
    const { child, processes, last } = kept()
    last().say('ready')
    const stopped = child.stop({ type: 'stop' }, 5000)
    expect(last().sent).toEqual([{ type: 'stop' }])
    last().emit('exit', 0, null)
    await stopped
    vi.advanceTimersByTime(60_000)
    expect(processes).toHaveLength(1)
  })

  test('is not restarted when the stop comes between two starts', async () => {
    const { child, processes, last } = kept()
    last().emit('exit', 1, null)
    await child.stop({ type: 'stop' }, 5000)
    vi.advanceTimersByTime(60_000)
    expect(processes).toHaveLength(1)
  })

  test('is killed when it has not ended after the patience of a stop', async () => {
    const { child, last } = kept()
    const stopped = child.stop({ type: 'stop' }, 5000)
    vi.advanceTimersByTime(4999)
    expect(last().signals).toEqual([])
    vi.advanceTimersByTime(1)
    expect(last().signals).toEqual(['SIGKILL'])
    await stopped
  })
})

describe('a hung child process', () => {
  test('is killed and replaced once it has been silent for too long', () => {
    const hung: number[] = []
    const { processes, last } = kept({ hungAfter: 5000, onHung: (pid) => void hung.push(pid) })
    last().say('ready')
    vi.advanceTimersByTime(5000)
    expect(last().signals).toEqual([])
    vi.advanceTimersByTime(1000)
    expect([hung, last().signals]).toEqual([[1], ['SIGKILL']])
    vi.advanceTimersByTime(100)
    expect(processes).toHaveLength(2)
  })

  test('is one that sends nothing: any message keeps it alive', () => {
    const { last } = kept({ hungAfter: 5000 })
    last().say('ready')
    for (let second = 0; second < 60; second++) {
      vi.advanceTimersByTime(1000)
      last().say('snapshot')
    }
    expect(last().signals).toEqual([])
  })

  test('is not one that is still starting', () => {
    const { last } = kept({ hungAfter: 5000 })
    vi.advanceTimersByTime(60_000)
    expect(last().signals).toEqual([])
  })

  test('is not killed while it stops', () => {
    const { child, last } = kept({ hungAfter: 5000 })
    last().say('ready')
    void child.stop({ type: 'stop' }, 60_000)
    vi.advanceTimersByTime(59_999)
    expect(last().signals).toEqual([])
  })
})
