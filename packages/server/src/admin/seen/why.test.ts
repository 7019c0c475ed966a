// How a refusal was decided, in the answer to "why?": by whose clock, strictly, from a lease, or without the store.
import type { ErrorCode, Source } from 'sluice'
import { describe, expect, it } from 'vitest'
import type { Fleet } from '../../observe/fleet.ts'
import type { JournalEntry } from '../../observe/journal.ts'
import { why } from './why.ts'

const LAST = Date.now() - 1000

async function answerFor(source: Source | null, cause?: ErrorCode) {
  const entry: JournalEntry = {
    id: 'AAAAAAAAAA',
    policy: 'api',
    rule: 'per-user',
    attributes: { user: 'ann' },
    reason: source === null ? 'blocked' : 'over-limit',
    limit: null,
    cost: 1,
    remaining: 0,
    retryAfter: 60_000,
    source,
    cause,
    first: LAST,
    last: LAST,
    count: 1,
    estimated: false,
    sources: source === null ? {} : { [source]: 1 },
    filledBy: [
      { attributes: { route: '/a' }, cost: 1, units: 160, error: 0, spread: 90 },
      { attributes: { route: '/b' }, cost: 2, units: 40, error: 0, spread: 0 },
    ],
  }
  const entries = async () => ({ parts: [entry], processes: 1, complete: true })
  const answer = await why(
    { attributes: { user: 'ann' }, most: 5 },
    {
      fleet: { entries } as unknown as Fleet,
      blocks: () => [],
      explainNow: async () => undefined,
      policies: () => [],
    },
  )
  return answer as { refusals: readonly object[]; sentences: readonly string[] }
}

describe('a refusal', () => {
  it.each<[Source, ErrorCode | undefined, mode: string, clock: string, sentence: string]>([
    ['store', undefined, 'strict', 'store', "strictly by the store, by the store's clock"],
    [
      'lease',
      undefined,
      'lease',
      'store',
      "from units leased from the store, by the store's clock",
    ],
    [
      'cache',
      undefined,
      'strict',
      'store',
      "by a refusal of the store that was remembered, by the store's clock",
    ],
    ['memory', undefined, 'strict', 'process', 'in the memory of the process, by its own clock'],
    [
      'fallback',
      'store-timeout',
      'degraded',
      'process',
      'without the store (store-timeout) by fallback, by the clock of the process',
    ],
  ])(
    'by %s with cause %s is %s, by the clock of the %s',
    async (source, cause, mode, clock, by) => {
      const { refusals, sentences } = await answerFor(source, cause)
      expect(refusals).toMatchObject([{ mode, clock, cause: cause ?? null }])
      expect(sentences).toContain(`The last one was decided ${by}.`)
    },
  )

  it('says what filled the count, and where that is an estimate', async () => {
    const { sentences } = await answerFor('store')
    expect(sentences).toContain(
      'What filled it in the last two windows, as far as it was noted: route=/a took about 160 units (80 %); route=/b at 2 units each took 40 units (20 %).',
    )
  })

  it('by an operator is blocked, and by no store', async () => {
    const { refusals, sentences } = await answerFor(null)
    expect(refusals).toMatchObject([{ mode: 'blocked', clock: 'process' }])
    expect(sentences[0]).toMatch(/^A block refused user=ann in policy api once: /)
  })
})
