import { describe, expect, it } from 'vitest'
import { createLimiter } from '../limiter/create-limiter.ts'
import { withHolds } from '../stores/holds/with-holds.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { parsePolicy, tryParsePolicy } from './parse.ts'

const budget = { name: 'r', by: ['user'], limit: '100/min', hold: '60s' }
const slots = { name: 'r', by: ['user'], concurrency: 20, hold: '30s' }
const log = { quota: 5, window: '1min', algorithm: 'sliding-log' }
const policyOf = (rule: object): object => ({ name: 'p', rules: [rule] })

describe('what a rule says of holds', () => {
  it.each<[object, string]>([
    [{ ...budget, hold: '' }, 'rules[0].hold is ""; accepted: '],
    [{ ...budget, hold: 0 }, 'rules[0].hold is 0; accepted: '],
    [{ ...budget, hold: '2days' }, 'rules[0].hold is "2days"; accepted: '],
    [{ ...budget, debt: -1 }, 'rules[0].debt is -1; accepted: true, false, or a whole number'],
    [{ ...budget, debt: 'yes' }, 'rules[0].debt is "yes"; accepted: true, false'],
    [{ ...budget, holdShare: 0 }, 'rules[0].holdShare is 0; accepted: a number above 0'],
    [{ ...budget, holdShare: 1.1 }, 'rules[0].holdShare is 1.1; accepted: a number above 0'],
    [{ ...budget, weights: 3 }, 'rules[0].weights is 3; accepted: { input, cached, output }'],
    [
      { ...budget, weights: { inputs: 3 } },
      'rules[0].weights.inputs is not a known field; did you',
    ],
    [{ ...budget, weights: { input: -1 } }, 'rules[0].weights.input is -1; accepted: a number'],
    [{ ...slots, concurrency: 0 }, 'rules[0].concurrency is 0; accepted: a whole number of slots'],
    [{ ...slots, concurrency: 1.5 }, 'rules[0].concurrency is 1.5; accepted: a whole number'],
    [{ ...budget, hold: false }, 'rules[0].hold is false; accepted: true, or '],
    [{ ...budget, candidate: '5/min' }, 'rules[0].candidate has no effect on a rule with hold'],
    [
      { ...budget, lockout: { after: 3, for: '1min' } },
      'rules[0].lockout is {"after":3,"for":"1min"}; accepted: none on a rule that is shadow',
    ],
    [{ ...slots, candidate: '5/min' }, 'rules[0].candidate has no meaning beside concurrency'],
    [{ ...slots, holdShare: 0.3 }, 'rules[0].holdShare has no meaning beside concurrency'],
    [
      { ...budget, tiers: { attribute: 'plan', limits: { pro: log } } },
      'rules[0].tiers.limits.pro with sliding-log, which cannot keep holds',
    ],
    [
      { ...budget, overrides: [{ when: { user: 'ann' }, limit: log }] },
      'rules[0].overrides[0].limit with sliding-log, which cannot keep holds',
    ],
    [{ ...slots, limit: '1/s' }, 'rules[0].limit stands beside concurrency; accepted: one of'],
    [{ ...slots, debt: true }, 'rules[0].debt has no meaning beside concurrency'],
    [{ ...budget, limit: log }, 'rules[0].hold with sliding-log, which cannot keep holds'],
  ])('is refused: %j', (rule, sentence) => {
    const messages = tryParsePolicy(policyOf(rule)).problems.map(({ message }) => message)
    expect(messages.map((message) => message.slice(0, sentence.length))).toEqual([sentence])
  })

  it('is read in full, and read again the same', () => {
    const parsed = parsePolicy(policyOf({ ...slots }))
    expect(parsed.rules[0]).toMatchObject({ concurrency: 20, hold: 30_000, limit: { quota: 20 } })
    expect(parsePolicy(parsed)).toEqual(parsed)
    const weights = { input: 1, output: 4 }
    const rule = { ...budget, debt: 5, holdShare: 0.25, weights }
    expect(parsePolicy(policyOf(rule)).rules[0]).toMatchObject({ ...rule, hold: 60_000, limit: {} })
  })
  it.each<[object, number]>([
    [{ ...budget, hold: true }, 60_000],
    [{ ...slots, hold: undefined }, 60_000],
    [{ ...budget, hold: undefined, debt: true }, 60_000],
    [{ ...budget, hold: undefined, weights: { input: 1 } }, 60_000],
    [{ ...budget, hold: undefined, holdShare: 1 }, 60_000],
    [{ ...budget, hold: '5s' }, 5000],
  ])('is 60 s where it is not said: %j', (rule, hold) => {
    expect(parsePolicy(policyOf(rule)).rules[0]).toMatchObject({ hold })
  })

  it('is an error of a limit function that chooses a log', () => {
    const policy = { name: 'p', rules: [{ ...budget, limit: () => log }] }
    const limiter = createLimiter({ policy, store: withHolds(memoryStore()) } as never)
    expect(() => limiter.check({ user: 'ann' })).toThrow(/sliding-log, which cannot keep holds/)
  })
})
