// The library's parsers of what others send, with inputs that are nearly right: a value or one of its own errors.
import { expect, test, vi } from 'vitest'
import { type FuzzedParser, parserErrors } from '../../../test/fuzz/parser-errors.ts'
import { hintOf } from '../src/client/hints/hint.ts'
import { parseDictionary, parseList } from '../src/client/hints/structured-fields.ts'
import { SluiceError } from '../src/errors.ts'
import { clientAddress } from '../src/http/client-address.ts'
import { pathReadings } from '../src/http/path-readings.ts'
import { parsePolicy } from '../src/policy/parse.ts'
import { tryDuration } from '../src/time/duration.ts'

vi.setConfig({ testTimeout: 3_600_000 })

const text = (input: Buffer): string => input.toString('latin1')
const policy =
  '{"name":"api","rules":[{"name":"r","when":{"ip":"10.0.0.0/8"},"by":["user"],"limit":"5/min","overrides":[{"when":{"user":"a"},"limit":"7/min"}]}]}'
const readers = (['forwarded', 'x-forwarded-for'] as const).map((header) =>
  clientAddress({ trustedProxies: ['10.0.0.0/8'], header }),
)
const headers = (name: string, value: string) => ({
  get: (wanted: string) => (wanted.toLowerCase() === name ? value : null),
})

const parsers: Record<string, FuzzedParser> = {
  'Forwarded and X-Forwarded-For': [
    [
      'for=1.2.3.4;proto=http, for="[2001:db8::1]:80"',
      '1.2.3.4, 10.0.0.1',
      'for=_hidden;by=10.0.0.1',
    ],
    (input) => {
      return readers.map((reader) => reader.of('10.0.0.1', text(input)))
    },
  ],
  paths: [
    ['/login', '/a/b/..%2f..%2flogin;x=1?y#z', 'http://h/p%5cq'],
    (input) => pathReadings(text(input)),
  ],
  'structured fields': [
    ['"api";q=100;w=60, "b";r=5;t=1', 'a=1, b=("x" "y");p=?1, c=:YWJj:'],
    (input) => [parseList(text(input)), parseDictionary(text(input))],
  ],
  'hints of answers': [
    ['"api";q=100;w=60', '120', 'Wed, 21 Oct 2026 07:28:00 GMT', '5;w=60'],
    (input) =>
      ['ratelimit', 'ratelimit-policy', 'retry-after', 'x-ratelimit-reset'].map((name) =>
        hintOf(headers(name, text(input)), 1_800_000_000_000),
      ),
  ],
  durations: [['1min', '250ms', '7d', '1_000s'], (input) => tryDuration(text(input))],
  'policies as JSON': [
    [policy],
    (input) => {
      let value: unknown
      try {
        value = JSON.parse(text(input))
      } catch {
        return undefined
      }
      return parsePolicy(value)
    },
    [SluiceError],
  ],
}

test.each(Object.entries(parsers))('%s', (_, parser) => {
  const { wrong, answered } = parserErrors(parser)
  expect(wrong).toEqual([])
  expect(answered).toBeGreaterThan(0)
})
