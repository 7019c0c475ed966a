import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { portableSha256, sha256 } from './sha256.ts'

/** What Node makes of the same code units, high byte first. */
function expected(text: string): string {
  return createHash('sha256').update(Buffer.from(text, 'utf16le').swap16()).digest('base64url')
}

describe.each([
  ['sha256', sha256],
  ['portableSha256', portableSha256],
])('%s', (_, digest) => {
  it.each([
    ['nothing', ''],
    ['one character', 'a'],
    ['two characters', 'ab'],
    ['a null', '\0'],
    ['a lone surrogate', '\ud800'],
    ['a pair of surrogates', '😀'],
    ['10 kB', 'x'.repeat(10_000)],
    ['64 kB', '\uffff'.repeat(65_536)],
  ])('is the digest that Node makes, for %s', (_, text) => {
    expect(digest(text)).toBe(expected(text))
  })

  it('is right at every length around the borders of a block', () => {
    for (let length = 0; length <= 200; length++) {
      const text = 'é'.repeat(length)
      expect(digest(text)).toBe(expected(text))
    }
  })

  it('is the digest that Node makes, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        expect(digest(text)).toBe(expected(text))
      }),
    )
  })
})
