// Every parser of what others send, with inputs that are nearly right: a value or one of its own errors, never another.
import { expect, test, vi } from 'vitest'
import { parsePolicy, SluiceError } from 'sluice'
import { clientAddress } from 'sluice/http'
import { lengthOf } from '../../../../test/length.ts'
import { parseDictionary, parseList } from '../../../sluice/src/client/hints/structured-fields.ts'
import { hintOf } from '../../../sluice/src/client/hints/hint.ts'
import { pathReadings } from '../../../sluice/src/http/path-readings.ts'
import { tryDuration } from '../../../sluice/src/time/duration.ts'
import { readConfig } from '../../src/config/read-config.ts'
import { readDomain } from '../../src/envoy/files/read-domain.ts'
import { MessageTooLarge, WireError } from '../../src/envoy/wire/reader.ts'
import { decodeRequest } from '../../src/envoy/wire/request.ts'
import { encode } from '../envoy/raw-client.ts'
import { namesOf } from '../../src/tls/client-names.ts'
import { mutations } from './mutations.ts'

vi.setConfig({ testTimeout: 3_600_000 })

const INPUTS = lengthOf(1000, 200_000)
const text = (input: Buffer): string => input.toString('latin1')
const policy =
  '{"name":"api","rules":[{"name":"r","when":{"ip":"10.0.0.0/8"},"by":["user"],"limit":"5/min","overrides":[{"when":{"user":"a"},"limit":"7/min"}]}]}'
const config = `policies:\n  - name: api\n    rules: [{ name: r, by: [user], limit: 5/min }]\nlisteners: { http: { port: 8080 } }\n`
const domain = `domain: shop\ndescriptors:\n  - key: user\n    rate_limit: { unit: minute, requests_per_unit: 5 }\n`
const readers = (['forwarded', 'x-forwarded-for'] as const).map((header) =>
  clientAddress({ trustedProxies: ['10.0.0.0/8'], header }),
)
const headers = (name: string, value: string) => ({
  get: (wanted: string) => (wanted.toLowerCase() === name ? value : null),
})

/** Each parser: valid inputs, what it does with one, and the errors that are its own. */
const parsers: Record<
  string,
  [readonly (string | Buffer)[], (input: Buffer) => unknown, unknown[]?]
> = {
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
  configurations: [[config], (input) => readConfig(text(input), 'file')],
  'descriptor files': [[domain], (input) => readDomain(text(input), 'file', 'fixed-window')],
  'gRPC messages': [
    [
      encode({
        domain: 'shop',
        hits: 2,
        descriptors: [{ entries: [['a', 'b']], limit: [7, 2], hits: 3 }],
      }),
    ],
    (input) => decodeRequest(input),
    [WireError, MessageTooLarge],
  ],
  'names in certificates': [
    ['DNS:proxy, URI:spiffe://a/b', 'DNS:"a, b", IP Address:127.0.0.1'],
    (input) => namesOf({ subjectaltname: text(input) }),
  ],
}

test.each(Object.entries(parsers))('%s', (_, [valid, parse, errors = []]) => {
  const next = mutations(13, valid)
  const wrong: unknown[] = []
  let answered = 0
  for (let i = 0; i < INPUTS && wrong.length < 3; i++) {
    const input = next()
    try {
      parse(input)
      answered += 1
    } catch (error) {
      const isOwn = errors.some((kind) => error instanceof (kind as typeof Error))
      if (!isOwn) wrong.push([JSON.stringify(text(input)), String(error)])
    }
  }
  expect(wrong).toEqual([])
  expect(answered).toBeGreaterThan(0)
})
