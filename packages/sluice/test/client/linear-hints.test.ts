// Whatever a server writes into a header field that the client reads, reading takes time in proportion to its length.
import { describe, expect, it } from 'vitest'
import { growthOf, type Shape } from '../../../../test/fuzz/reading-cost.ts'
import { hintOf } from '../../src/client/hints/hint.ts'
import { parseDictionary, parseList } from '../../src/client/hints/structured-fields.ts'

const NOW = 1_800_000_000_000
const hint = (name: string) => (value: string) =>
  hintOf({ get: (wanted: string) => (wanted.toLowerCase() === name ? value : null) }, NOW)

const readers: Record<string, (value: string) => unknown> = {
  'a list of structured fields': parseList,
  'a dictionary of structured fields': parseDictionary,
  RateLimit: hint('ratelimit'),
  'RateLimit-Policy': hint('ratelimit-policy'),
  'Retry-After': hint('retry-after'),
  'X-RateLimit-Reset': hint('x-ratelimit-reset'),
  'X-RateLimit-Limit': hint('x-ratelimit-limit'),
}

const SHAPES: readonly Shape[] = [
  ['', ' ', ''],
  ['"api"', ' ', ';q=1'],
  ['', '"a";q=1, ', ''],
  ['"', 'a', ''],
  ['"', '\\"', ''],
  ['', '"', ''],
  ['(', '"a" ', ')'],
  ['"a"', ';q', '=1'],
  ['"a"', ';q=1;w=60', ''],
  ['', ',', ''],
  ['', '1', ''],
  ['1.', '1', ''],
  [':', 'YWJj', ':'],
  ['', '-', '1'],
  ['Wed, 21 ', 'Oct ', '2026'],
  ['', '100;w=60, ', '1'],
]

describe.each(Object.entries(readers))('reading %s', (_, read) => {
  it('takes linear time', () => {
    const growths = SHAPES.map((shape) => [shape.join('…'), growthOf(read, shape)] as const)
    expect(growths.filter(([, growth]) => growth >= 96)).toEqual([])
  })
})
