import { describe, expect, it } from 'vitest'
import { TurnBatches } from './turn-batches.ts'

/** Batches of numbers, at most three together; `endTurn` ends the turn. */
function batches() {
  const sent: number[][] = []
  const turns: (() => void)[] = []
  const held: { run: () => void; after: number }[] = []
  const made = new TurnBatches<string, number[]>({
    make: () => [],
    hasRoom: (batch, size) => batch.length + size <= 3,
    send: (batch) => void sent.push(batch),
    maxInFlight: 2,
    holdFor: 5,
    timers: {
      start: (run, after) => ({ ends: held.push({ run, after }) }),
      stop: () => void (held.length = 0),
      afterTurn: (run) => void turns.push(run),
    },
  })
  const add = (key: string, ...numbers: number[]): void => {
    made.batchFor(key, numbers.length).push(...numbers)
  }
  const endTurn = (): void => {
    for (const run of turns.splice(0)) run()
  }
  return { add, sent, held, made, endTurn }
}

describe('batches of a turn', () => {
  it('are sent as soon as the running function has ended, while nothing is in flight', async () => {
    const { add, sent } = batches()
    add('a', 1)
    add('a', 2)
    expect(sent).toEqual([])
    await Promise.resolve()
    expect(sent).toEqual([[1, 2]])
  })

  it('wait for the end of the turn while a batch is in flight', async () => {
    const { add, sent, made, endTurn } = batches()
    made.inFlight = 1
    add('a', 1)
    await Promise.resolve()
    add('a', 2)
    expect(sent).toEqual([])
    endTurn()
    expect(sent).toEqual([[1, 2]])
  })

  it('wait for an answer while too many are in flight, and go out when they are full', async () => {
    const { add, sent, made, endTurn } = batches()
    made.inFlight = 2
    add('a', 1, 2)
    await Promise.resolve()
    endTurn()
    expect(sent).toEqual([])
    add('a', 3, 4)
    expect(sent).toEqual([[1, 2]])
    made.release()
    expect(sent).toEqual([[1, 2]])
    made.inFlight = 1
    made.release()
    expect(sent).toEqual([
      [1, 2],
      [3, 4],
    ])
    made.release()
    expect(sent).toHaveLength(2)
  })

  it('wait no longer for an answer than they may', () => {
    const { add, sent, held, made } = batches()
    made.inFlight = 2
    add('a', 1)
    add('a', 2)
    expect(held).toMatchObject([{ after: 5 }])
    held[0]!.run()
    expect(sent).toEqual([[1, 2]])
    expect(held).toEqual([])
    add('a', 3)
    expect(held).toHaveLength(1)
  })

  it('are sent in order when they are full, each key for itself', async () => {
    const { add, sent } = batches()
    add('a', 1, 2)
    add('b', 3)
    add('a', 4, 5)
    expect(sent).toEqual([[1, 2]])
    await Promise.resolve()
    expect(sent).toEqual([[1, 2], [4, 5], [3]])
    add('a', 6)
    await Promise.resolve()
    expect(sent.at(-1)).toEqual([6])
  })
})
