// Streams that wait for their client: which are cut, and in which order.
import type { ServerHttp2Stream } from 'node:http2'
import { expect, test } from 'vitest'
import { StreamDeadlines, TimedStream } from './stream-deadlines.ts'

/** Three streams that began to wait at 0, 100 and 200 ms, and the names of those that were cut. */
function threeWaiting() {
  const cut: string[] = []
  const deadlines = new StreamDeadlines(1000)
  const [a, b, c] = ['a', 'b', 'c'].map((name, i) => {
    const stream = { close: () => cut.push(name) } as unknown as ServerHttp2Stream
    const timed = new TimedStream(stream)
    deadlines.start(timed, 100 * i)
    return timed
  }) as [TimedStream, TimedStream, TimedStream]
  return { deadlines, cut, a, b, c }
}

test('cuts streams at their deadline, each once', () => {
  const { deadlines, cut } = threeWaiting()
  deadlines.sweep(999)
  expect(cut).toEqual([])
  deadlines.sweep(1100)
  expect(cut).toEqual(['a', 'b'])
  deadlines.sweep(5000)
  expect(cut).toEqual(['a', 'b', 'c'])
})

test('a stream whose time starts anew goes behind the others', () => {
  const { deadlines, cut, a } = threeWaiting()
  deadlines.start(a, 300)
  deadlines.sweep(1200)
  expect(cut).toEqual(['b', 'c'])
  deadlines.sweep(1300)
  expect(cut).toEqual(['b', 'c', 'a'])
})

test.each(['a', 'b', 'c'] as const)('%s is not cut once it has stopped waiting', (name) => {
  const { deadlines, cut, ...streams } = threeWaiting()
  deadlines.stop(streams[name])
  deadlines.stop(streams[name])
  deadlines.sweep(5000)
  expect(cut).toEqual(['a', 'b', 'c'].filter((one) => one !== name))
  deadlines.start(streams[name], 6000)
  deadlines.sweep(7000)
  expect(cut.at(-1)).toBe(name)
})
