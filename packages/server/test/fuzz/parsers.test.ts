// The service's parsers of what others send, with inputs that are nearly right: a value or one of its own errors.
import { expect, test, vi } from 'vitest'
import { type FuzzedParser, parserErrors } from '../../../../test/fuzz/parser-errors.ts'
import { readConfig } from '../../src/config/read-config.ts'
import { readDomain } from '../../src/envoy/files/read-domain.ts'
import { MessageTooLarge, WireError } from '../../src/envoy/wire/reader.ts'
import { decodeRequest } from '../../src/envoy/wire/request.ts'
import { namesOf } from '../../src/tls/client-names.ts'
import { encode } from '../envoy/raw-client.ts'

vi.setConfig({ testTimeout: 3_600_000 })

const text = (input: Buffer): string => input.toString('latin1')
const config = `policies:\n  - name: api\n    rules: [{ name: r, by: [user], limit: 5/min }]\nlisteners: { http: { port: 8080 } }\n`
const domain = `domain: shop\ndescriptors:\n  - key: user\n    rate_limit: { unit: minute, requests_per_unit: 5 }\n`

const parsers: Record<string, FuzzedParser> = {
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

test.each(Object.entries(parsers))('%s', (_, parser) => {
  const { wrong, answered } = parserErrors(parser)
  expect(wrong).toEqual([])
  expect(answered).toBeGreaterThan(0)
})
