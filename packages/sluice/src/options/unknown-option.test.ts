import { describe, expect, it } from 'vitest'
import { checkOptionNames, unknownOption } from './unknown-option.ts'

const ACCEPTED = ['limit', 'policy', 'headers', 'onRefused']

describe('an unknown option', () => {
  it.each([
    ['limt', 'f: unknown option "limt"; did you mean limit? accepted: limit, policy,'],
    ['header', 'did you mean headers?'],
    ['windowMs', "the window is part of the limit, such as limit: '100/15min'; accepted: limit"],
    ['max', 'the number is part of the limit'],
    ['message', 'use onRefused, which may return { status, headers, body }; accepted'],
    ['handler', 'use onRefused'],
    ['keyGenerator', 'use key, or user and apiKey'],
    ['standardHeaders', "use headers, such as headers: ['draft-8'"],
    ['points', 'the number is part of the limit'],
    ['duration', 'the window is part of the limit'],
    ['redis', 'use store: redisStore(client)'],
    [
      'somethingElse',
      'f: unknown option "somethingElse"; accepted: limit, policy, headers, onRefused',
    ],
    // A name of Object.prototype is as unknown as any other.
    ['constructor', 'f: unknown option "constructor"; accepted: limit'],
  ])('%s is explained', (name, message) => {
    const error = unknownOption('f', name, ACCEPTED)
    expect([error.code, error.message]).toEqual([
      'invalid-option',
      expect.stringContaining(message),
    ])
  })

  it('is thrown for the first name that is not accepted', () => {
    expect(() => checkOptionNames('f', { limit: 1, max: 2 }, ACCEPTED)).toThrow('"max"')
    expect(() => checkOptionNames('f', { limit: 1 }, ACCEPTED)).not.toThrow()
  })
})
