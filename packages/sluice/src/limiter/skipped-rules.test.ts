import { describe, expect, it } from 'vitest'
import type { RuleInCode } from '../policy/policy.ts'
import type { Attributes } from '../policy/policy.ts'
import { createLimiter } from './create-limiter.ts'
import type { LimiterWarning } from './skipped-rules.ts'

/** The warnings of a limiter with one rule, after so many requests of each kind. */
function warningsOf(
  rule: Partial<RuleInCode>,
  ...requests: readonly (readonly [times: number, attributes: Attributes])[]
): readonly LimiterWarning[] {
  const warnings: LimiterWarning[] = []
  const limiter = createLimiter({
    policy: { name: 'api', rules: [{ name: 'one', by: ['user'], limit: '9/min', ...rule }] },
    onWarning: (warning) => void warnings.push(warning),
  })
  for (const [times, attributes] of requests)
    for (let i = 0; i < times; i++) limiter.check(attributes)
  return warnings
}

describe('a rule that is skipped in each of its first 1,000 requests', () => {
  it('is reported once, with the attribute that is missing', () => {
    expect(warningsOf({}, [999, { usr: 'ann' }])).toEqual([])
    expect(warningsOf({}, [5000, { usr: 'ann' }])).toEqual([
      {
        code: 'rule-skipped',
        message:
          'rule one of policy api was skipped in each of its first 1000 requests: none had the attribute user',
        help: expect.stringMatching(/warnings#rule-skipped$/),
      },
    ])
  })

  it('is reported as well if its condition holds now and then only', () => {
    const rule = { when: { plan: 'free' } }
    const often = [5000, { plan: 'pro' }] as const
    expect(warningsOf(rule, often, [1000, { plan: 'free' }])).toHaveLength(1)
  })
})

describe('a rule is not reported', () => {
  it('that applied once', () => {
    expect(warningsOf({}, [500, {}], [1, { user: 'ann' }], [5000, {}])).toEqual([])
  })

  it('whose limit is none', () => {
    const overrides = [{ when: { user: 'ann' }, limit: 'unlimited' }] as const
    expect(warningsOf({ overrides }, [2000, { user: 'ann' }])).toEqual([])
  })
})

it('a listener that throws fails no request', () => {
  const limiter = createLimiter({
    policy: { name: 'api', rules: [{ name: 'one', by: ['user'], limit: '9/min' }] },
    onWarning: () => {
      throw new Error('no luck')
    },
  })
  for (let i = 0; i < 1001; i++) expect(limiter.check({}).allowed).toBe(true)
})
