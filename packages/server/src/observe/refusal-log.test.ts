import { describe, expect, it } from 'vitest'
import type { Log } from '../log/log.ts'
import type { JournalEntry } from './journal.ts'
import { RefusalLog } from './refusal-log.ts'

const START = 1_800_000_000_000
const entry = (user: string, last: number) =>
  ({
    policy: 'api',
    rule: 'per-user',
    attributes: { user },
    reason: 'over-limit',
    last,
  }) as unknown as JournalEntry

describe('refusals in the log', () => {
  const lines: [object, string][] = []
  const log = {
    info: (fields: object, text: string) => lines.push([fields, text]),
  } as unknown as Log
  const refusals = new RefusalLog(log)

  it('are ten lines a minute at most, and then their number', () => {
    for (let i = 0; i < 500; i++) refusals.note(entry(`user ${i}`, START))
    expect(lines).toHaveLength(10)
    refusals.note(entry('later', START + 60_000))
    expect(lines.slice(10)).toEqual([
      [{ keys: 490 }, 'more keys were refused in that minute'],
      [expect.objectContaining({ attributes: { user: 'later' } }), 'a key is refused'],
    ])
  })

  it.each(['a\r\nb', '\u001b[31mred', 'x\u202ey', 'z'.repeat(65_536)])(
    'cannot be forged by a name',
    (name) => {
      lines.length = 0
      refusals.note(entry(name, START + 120_000))
      const text = JSON.stringify(lines)
      for (const hidden of ['\r', '\n', '\u001b', '\u202e']) expect(text).not.toContain(hidden)
      expect(text.length).toBeLessThan(1000)
    },
  )
})
