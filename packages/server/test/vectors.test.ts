// The vectors of spec/algorithms through the HTTP API: the same numbers as from the functions, to the millisecond.
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Verdict } from 'sluice'
import { runVectorCase, type VectorFile, type VectorSubject } from 'sluice/testing'
import { running, type Running } from './running.ts'

const folder = new URL('../../../spec/algorithms/', import.meta.url)
const files = readdirSync(folder).filter((name) => name.endsWith('.json'))

/** Sets the process's clock, from which the service's store reads the time. */
function setClock(at: number): void {
  // The half keeps what is lost in the sum from showing as a millisecond.
  vi.spyOn(performance, 'now').mockReturnValue(at + 0.5 - performance.timeOrigin)
}

/** One policy of a service, which has the limit of a case. */
function subject({ post }: Running, policy: string): VectorSubject {
  const ask = async (path: string, cost: number, at: number): Promise<Verdict> => {
    setClock(at)
    const { status, body } = await post(path, { policy, attributes: {}, cost })
    expect(status).toBe(200)
    const { outcomes, delay } = body as unknown as { outcomes: [Verdict]; delay: number }
    return { ...outcomes[0], delay }
  }
  return {
    begin: () => {},
    take: (_, cost, at) => ask('/v1/check', cost, at),
    peek: (_, cost, at) => ask('/v1/peek', cost, at),
    async refund(_, cost, at, takenAt) {
      setClock(at)
      const { status } = await post('/v1/refund', { policy, attributes: {}, cost, takenAt })
      expect(status).toBe(200)
    },
  }
}

describe('the service decides as the vectors say', () => {
  it.each(files)('%s', async (name) => {
    const { cases } = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as VectorFile
    const policies = cases.map(({ limit }, i) => ({
      name: `case-${i}`,
      rules: [{ name: 'one', by: [], limit }],
    }))
    const service = await running({ policies })
    onTestFinished(() => void vi.restoreAllMocks())
    for (const [i, vector] of cases.entries())
      expect(await runVectorCase(vector, subject(service, `case-${i}`))).toBe(vector.steps.length)
  })
})
