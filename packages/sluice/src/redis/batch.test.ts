import { describe, expect, it } from 'vitest'
import { ServerTime } from './batch.ts'

/** A server whose clock is ahead of ours; an answer tells its time halfway. */
function served(ahead: number, answers: readonly (readonly [at: number, took: number])[]) {
  const time = new ServerTime()
  for (const [at, took] of answers) time.learn(at + Math.floor(took / 2) + ahead, at, at + took)
  return time
}

describe("the server's time", () => {
  it('is long past while nothing is known, so that a first call only asks for it', () => {
    expect(new ServerTime().at(1_800_000_000_000)).toBe(1)
  })

  it.each([0, 1, 3_600_000, -3_600_000])('is never put too late, %d ms ahead', (ahead) => {
    const time = served(ahead, [
      [1000, 7],
      [2000, 90],
      [3000, 1],
    ])
    expect(time.at(5000)).toBeLessThanOrEqual(5000 + ahead)
  })

  it('is as near as the quickest answer allows, whatever came after', () => {
    const quick = [1000, 2] as const
    const slow = [2000, 90] as const
    expect(served(50, [quick, slow]).at(5000)).toBe(5000 + 50 - 1 - 2)
    expect(served(50, [slow, quick]).at(5000)).toBe(5000 + 50 - 1 - 2)
  })

  it('follows a clock that is set back or forward', () => {
    for (const step of [-3_600_000, -50, 50, 3_600_000]) {
      const time = served(0, [[1000, 2]])
      time.learn(2001 + step, 2000, 2002)
      expect(time.at(5000)).toBe(5000 + step - 1 - 2)
    }
  })
})
