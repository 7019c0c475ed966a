// The published schema agrees with the reader: editors and the service accept the same files.
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readConfig } from '../src/config/read-config.ts'

const root = new URL('../../../', import.meta.url)
const schema = JSON.parse(readFileSync(new URL('spec/config.schema.json', root), 'utf8')) as object
const isValid = new Ajv2020({ strict: false }).compile(schema)
const policies = [{ name: 'api', rules: [{ name: 'all', by: [], limit: '1/s' }] }]

const good: readonly object[] = [
  { policies },
  { policies, store: 'memory' },
  { $schema: 'config.schema.json', policies },
  { policies, store: 'redis://h' },
  { policies, store: { kind: 'memory', maxKeys: 5 } },
  { policies, store: { kind: 'redis', url: 'rediss://h', timeout: '15ms', cluster: true } },
  { policies, listeners: { http: { host: '::', port: 0 }, grpc: {} } },
  { policies, listeners: { http: { tls: { cert: 'a', key: 'b', ca: 'c', clients: 'optional' } } } },
  { policies, listeners: { grpc: { maxMessage: 4096, tls: { cert: 'a', key: 'b' } } } },
  { policies, headers: ['structured', 'draft-7'], proxy: { headers: [] } },
  { policies, failure: { fallbackShare: 0.25 }, trustedProxies: ['10.0.0.0/8'] },
  { policies, webhooks: [{ url: 'https://a.example', secret: '0123456789abcdef' }] },
  { policies, failure: { replicas: 4 }, shutdown: { delay: 5000, patience: '30s' }, log: 'warn' },
]
const bad: readonly unknown[] = [
  null,
  [],
  {},
  { policies: [] },
  { policies: [{ name: 'api' }] },
  { policies, store: 'file' },
  { policies, store: { kind: 'redis' } },
  { policies, store: { kind: 'memory', prefix: 'x' } },
  { policies, listeners: { http: { port: -1 } } },
  { policies, listeners: { htpp: {} } },
  { policies, webhooks: [{ url: 'https://a.example' }] },
  { policies, failure: { fallbackShare: 0 } },
  { policies, failure: { fallbackShare: 2 } },
  { policies, listeners: { http: { tls: {} } } },
  { policies, listeners: { http: { tls: { cert: 'a', key: 'b', minVersion: 'TLSv1' } } } },
  { policies, listeners: { http: { tls: { cert: 'a', key: 'b', passphrase: 'c' } } } },
  { policies, headers: ['x'] },
  { policies, log: 'loud' },
  { policies, extra: 1 },
]

describe('the schema and the reader', () => {
  it.each(good)('both accept %o', (value) => {
    expect(isValid(value)).toBe(true)
    expect(readConfig(JSON.stringify(value), 'x').problems).toEqual([])
  })

  it.each(bad)('both refuse %o', (value) => {
    expect(isValid(value)).toBe(false)
    expect(readConfig(JSON.stringify(value), 'x').problems).not.toEqual([])
  })

  it('both accept variables of the environment where a number or a word stands', () => {
    const text = `policies: [{ name: api, rules: [{ name: all, by: [], limit: 1/s }] }]
store: { kind: redis, url: "\${URL}", timeout: "\${TIMEOUT:-15ms}" }
listeners:
  http:
    port: \${PORT:-8080}
log: \${LEVEL:-warn}
`
    expect(isValid(parse(text))).toBe(true)
    expect(readConfig(text, 'x', { URL: 'redis://h' }).problems).toEqual([])
  })

  it('both accept the sample', () => {
    const text = readFileSync(new URL('examples/service/sluice.yaml', root), 'utf8')
    expect(isValid(parse(text))).toBe(true)
    expect(readConfig(text, 'sluice.yaml').problems).toEqual([])
  })
})
