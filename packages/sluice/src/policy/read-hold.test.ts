import { describe, expect, it } from 'vitest'
import { parsePolicy, tryParsePolicy } from './parse.ts'

const budget = { name: 'r', by: ['user'], limit: '100/min', hold: '60s' }
const slots = { name: 'r', by: ['user'], concurrency: 20, hold: '30s' }
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
    [{ ...slots, hold: undefined }, 'rules[0].concurrency needs hold beside it'],
    [{ ...budget, hold: undefined, debt: true }, 'rules[0].debt needs hold beside it'],
    [{ ...slots, limit: '1/s' }, 'rules[0].limit stands beside concurrency; accepted: one of'],
    [{ ...slots, debt: true }, 'rules[0].debt has no meaning beside concurrency'],
    [
      { ...budget, limit: { quota: 5, window: '1min', algorithm: 'sliding-log' } },
      'rules[0].hold with sliding-log, which cannot keep holds',
    ],
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
})
