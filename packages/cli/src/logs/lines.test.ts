import { describe, expect, it } from 'vitest'
import { LineReader, MAX_LINE } from './lines.ts'

function linesOf(text: string, chunk: number): { lines: string[]; tooLong: number } {
  const lines: string[] = []
  let tooLong = 0
  const reader = new LineReader(
    (bytes, start, end) => lines.push(new TextDecoder().decode(bytes.subarray(start, end))),
    () => tooLong++,
  )
  const bytes = new TextEncoder().encode(text)
  for (let i = 0; i < bytes.length; i += chunk) reader.feed(bytes.subarray(i, i + chunk))
  reader.end()
  return { lines, tooLong }
}

describe('lines', () => {
  it.each([1, 2, 3, 5, 100])('are the same in chunks of %i bytes', (chunk) => {
    const { lines } = linesOf('a\r\nbcd\n\n\nefg\r\nlast', chunk)
    expect(lines).toEqual(['a', 'bcd', 'efg', 'last'])
  })

  it.each([1000, 65_536, 10_000_000])('that are too long are counted and skipped: %i', (chunk) => {
    const { lines, tooLong } = linesOf(
      `a\n${'x'.repeat(3 * MAX_LINE)}\nb\n${'y'.repeat(2 * MAX_LINE)}`,
      chunk,
    )
    expect([lines, tooLong]).toEqual([['a', 'b'], 2])
  })
})
