import { describe, expect, it } from 'vitest'
import { RestQueue } from './rest-queue.ts'

describe('rest queue', () => {
  it('gives what is due, in order, and nothing else', () => {
    const queue = new RestQueue<number>()
    for (let i = 0; i < 100; i++) queue.push(i, 10 * i)
    expect(queue.next(-1)).toBe(undefined)
    const due: (number | undefined)[] = []
    for (let i = 0; i < 52; i++) due.push(queue.next(500))
    expect(due).toEqual([...Array.from({ length: 51 }, (_, i) => i), undefined])
    queue.push(100, 1000)
    let rest = 0
    while (queue.next(1000) !== undefined) rest += 1
    expect(rest).toBe(50)
    expect(queue.next(Infinity)).toBe(undefined)
  })
})
