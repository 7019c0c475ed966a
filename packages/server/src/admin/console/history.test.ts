import { describe, expect, it } from 'vitest'
import { Sampler } from './history.ts'

const decisions = (rule: string, result: string, value: number) =>
  `sluice_decisions_total{policy="api",rule="${rule}",result="${result}"} ${value}\n`
const bucket = (le: string, value: number) =>
  `sluice_decision_duration_seconds_bucket{policy="api",le="${le}"} ${value}\n`

async function sampled(...texts: readonly string[]) {
  let i = 0
  const sampler = new Sampler(() => texts[i++]!)
  for (const [second] of texts.entries()) await sampler.sample(second * 1000)
  return sampler.history
}

describe('the history of the console', () => {
  it('has what happened between two samples, by rule', async () => {
    const { names, ticks } = await sampled(
      decisions('per-user', 'allowed', 10) + decisions('per-user', 'refused', 1),
      decisions('per-user', 'allowed', 25) + decisions('per-user', 'refused', 4),
    )
    expect(names).toEqual([{ policy: 'api', rule: 'per-user' }])
    expect(ticks).toHaveLength(1)
    expect(ticks[0]).toMatchObject({ t: 1000, rules: [[0, 15, 3, 0, 0]] })
  })

  it('leaves rules out that decided nothing, and counts blocked requests apart', async () => {
    const { ticks } = await sampled(
      decisions('a', 'allowed', 1) + decisions('', 'blocked', 0),
      decisions('a', 'allowed', 1) + decisions('', 'blocked', 7),
    )
    expect(ticks[0]).toMatchObject({ rules: [], blocked: 7 })
  })

  it('reads quantiles as the upper edge of their step', async () => {
    const { ticks } = await sampled(
      bucket('0.001', 0) + bucket('0.01', 0) + bucket('+Inf', 0),
      bucket('0.001', 90) + bucket('0.01', 98) + bucket('+Inf', 100),
    )
    expect(ticks[0]).toMatchObject({ p50: 1, p99: 10_000 })
  })

  it('takes a counter that went back for a new beginning', async () => {
    const { ticks } = await sampled(decisions('a', 'allowed', 100), decisions('a', 'allowed', 3))
    expect(ticks[0]!.rules).toEqual([])
  })

  it('names at most 60 rules, and counts the others together', async () => {
    const rules = Array.from({ length: 100 }, (_, i) => `r${i}`)
    const { names, ticks } = await sampled(
      rules.map((rule) => decisions(rule, 'allowed', 0)).join(''),
      rules.map((rule) => decisions(rule, 'allowed', 2)).join(''),
    )
    expect(names).toHaveLength(61)
    expect(names.at(-1)).toEqual({ policy: '', rule: 'other rules' })
    expect(ticks[0]!.rules.at(-1)).toEqual([60, 80, 0, 0, 0])
  })

  it('keeps ten minutes', async () => {
    const texts = Array.from({ length: 700 }, (_, i) => decisions('a', 'allowed', i))
    const { ticks } = await sampled(...texts)
    expect(ticks).toHaveLength(600)
    expect(ticks.at(-1)!.t).toBe(699_000)
  })

  it('reads names with quotes, backslashes and line breaks', async () => {
    const { names } = await sampled(
      decisions('x', 'allowed', 0),
      decisions(String.raw`a\"b\\c\nd`, 'allowed', 1),
    )
    expect(names.at(-1)).toEqual({ policy: 'api', rule: 'a"b\\c\nd' })
  })
})
