import { describe, expect, it } from 'vitest'
import type { Log } from '../log/log.ts'
import type { JournalEntry } from './journal.ts'
import { RefusalLog } from './refusal-log.ts'

const entry = (user: string) =>
  ({
    policy: 'api',
    rule: 'per-user',
    attributes: { user },
    reason: 'over-limit',
  }) as unknown as JournalEntry

describe('refusals in the log', () => {
  const lines: [object, string][] = []
  const log = {
    info: (fields: object, text: string) => lines.push([fields, text]),
  } as unknown as Log
  const refusals = new RefusalLog(log)

  it('are ten lines a minute at most, and then their number', () => {
    for (let i = 0; i < 500; i++) refusals.note(entry(`user ${i}`))
    expect(lines).toHaveLength(10)
    refusals.endMinute(12_345)
    expect(lines.slice(10)).toEqual([
      [{ refusals: 12_345, newKeys: 500 }, 'refusals of the last minute'],
    ])
  })

  it('need no number when each has its line', () => {
    lines.length = 0
    refusals.note(entry('ann'))
    refusals.endMinute(1)
    expect(lines.map(([, text]) => text)).toEqual(['a key is refused'])
  })

  it('are counted on in the minutes after the first of a key', () => {
    lines.length = 0
    refusals.endMinute(40)
    expect(lines).toEqual([[{ refusals: 40, newKeys: 0 }, 'refusals of the last minute']])
  })

  it.each(['a\r\nb', '\u001b[31mred', 'x\u202ey', 'z'.repeat(65_536)])(
    'cannot be forged by a name',
    (name) => {
      lines.length = 0
      refusals.note(entry(name))
      const text = JSON.stringify(lines)
      for (const hidden of ['\r', '\n', '\u001b', '\u202e']) expect(text).not.toContain(hidden)
      expect(text.length).toBeLessThan(1000)
    },
  )
})
