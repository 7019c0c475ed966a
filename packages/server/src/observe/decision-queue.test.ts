import { createLimiter, type Decision, type DecisionRequest } from 'sluice'
import { describe, expect, it } from 'vitest'
import { DecisionQueue, type QueuedDecision } from './decision-queue.ts'
import { Observer } from './observer.ts'

function queueing(queue: DecisionQueue) {
  const noted: number[] = []
  const note = ({ elapsed }: QueuedDecision): void => void noted.push(elapsed)
  const decision = createLimiter({ limit: '1/s' }).check('a') as Decision
  const request: DecisionRequest = { attributes: [], checks: [], skipped: [] }
  const add = (elapsed: number): void =>
    queue.add({ decision, request, elapsed, weight: 1, block: undefined, note })
  return { noted, add }
}

describe('queued decisions', () => {
  it('are noted in their order, when the queue is drained', () => {
    const queue = new DecisionQueue()
    const { noted, add } = queueing(queue)
    for (const elapsed of [1, 2, 3]) add(elapsed)
    expect(noted).toEqual([])
    queue.drain()
    queue.drain()
    expect(noted).toEqual([1, 2, 3])
  })

  it('are noted at once when sixteen wait', () => {
    const { noted, add } = queueing(new DecisionQueue())
    for (let i = 0; i < 15; i++) add(i)
    expect(noted).toHaveLength(0)
    add(15)
    expect(noted).toHaveLength(16)
  })

  it.each([
    ['there is a tick', (observer: Observer) => observer.tick()],
    ['the journal is read', (observer: Observer) => observer.journal],
    ['keys are read', (observer: Observer) => observer.parts()],
    ['keys are counted', (observer: Observer) => observer.countsOf('api', 'one')],
    ['the observer is closed', (observer: Observer) => observer.close()],
  ])('are noted when %s', (_, happen) => {
    const observer = new Observer()
    const { noted, add } = queueing(observer.queue)
    add(1)
    happen(observer)
    expect(noted).toEqual([1])
  })
})
