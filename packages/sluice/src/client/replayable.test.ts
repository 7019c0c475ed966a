import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { isReplayable } from './replayable.ts'

describe('isReplayable', () => {
  it.each<[string, unknown, boolean]>([
    ['no body', undefined, true],
    ['null', null, true],
    ['a string', 'a', true],
    ['bytes', new Uint8Array(1), true],
    ['a buffer', new ArrayBuffer(1), true],
    ['a blob', new Blob(['a']), true],
    ['a form', new FormData(), true],
    ['parameters', new URLSearchParams('a=1'), true],
    ['a web stream', new Blob(['a']).stream(), false],
    ['a Node stream', Readable.from(['a']), false],
    ['an object', {}, false],
    [
      // As the package form-data does, which axios takes.
      'a stream named FormData',
      Object.assign(Readable.from(['a']), { [Symbol.toStringTag]: 'FormData' }),
      false,
    ],
  ])('tells %s', (_, body, expected) => {
    expect(isReplayable(body)).toBe(expected)
  })
})
