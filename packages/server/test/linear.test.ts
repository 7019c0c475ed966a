// Whatever a client writes into a header field that the service reads, reading takes time in proportion to its length.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { growthOf, type Shape } from '../../../test/fuzz/reading-cost.ts'
import { Sessions } from '../src/admin/console/session.ts'
import { StaticFiles } from '../src/admin/console/static-files.ts'
import { TokenRing } from '../src/admin/token-ring.ts'
import { digestOf } from '../src/config/tokens.ts'
import { timeoutOf } from '../src/envoy/grpc/timeout.ts'
import { createLog } from '../src/log/log.ts'
import { readJson } from '../src/net/body.ts'
import { isLocalHost } from '../src/net/local-host.ts'
import { readDecisionId } from '../src/observe/observer.ts'
import { namesOf } from '../src/tls/client-names.ts'
import { readRequestHead } from '../src/upstream/request-head.ts'

const tokenDigest = digestOf('a token that is long enough').toString('hex')
const token = { name: 'ann', role: 'operate' as const, digest: Buffer.from(tokenDigest, 'hex') }
const sessions = new Sessions(() => [token])
const tokens = new TokenRing({ tokenDigest } as never, undefined, createLog('silent' as never))
const files = new StaticFiles()
const nowhere = { writeHead: () => nowhere, end: () => nowhere } as unknown as ServerResponse
const head = (name: string, value: string) =>
  readRequestHead(
    { rawHeaders: [name, value], url: '/', method: 'GET', httpVersionMinor: 1 } as IncomingMessage,
    new Set(['x-api-key']),
  )
const ofBody = (name: string) => (value: string) => {
  const request = Object.assign(Readable.from([]), { headers: { [name.toLowerCase()]: value } })
  readJson(
    request as unknown as IncomingMessage,
    1024,
    () => {},
    () => {},
  )
}

const readers: Record<string, (value: string) => unknown> = {
  'the Host of a loopback listener': isLocalHost,
  Authorization: (value) => tokens.holderOf(value),
  Cookie: (value) => sessions.of(value),
  'a sign-in code': (value) => sessions.useLink(value),
  'Accept-Encoding': (value) =>
    files.send('/', { headers: { 'accept-encoding': value } } as never, nowhere),
  'grpc-timeout': timeoutOf,
  'a decision id': readDecisionId,
  'names of a certificate': (value) => namesOf({ subjectaltname: value }),
  'Content-Type': ofBody('Content-Type'),
  'Content-Length': ofBody('Content-Length'),
  'Host through the proxy': (value) => head('Host', value),
  TE: (value) => head('TE', value),
  Connection: (value) => head('Connection', value),
  'Transfer-Encoding': (value) => head('Transfer-Encoding', value),
}

const SHAPES: readonly Shape[] = [
  ['', ' ', ''],
  ['Bearer', ' ', '\u0001'],
  ['sluice_session=', 'a.', ''],
  ['', 'sluice_session=;', ''],
  ['', '; ', '='],
  ['', ',\t', 'x'],
  [',', ' ', 'trailers x'],
  ['', 'gzip ', '\0'],
  ['', '1.', ''],
  ['', 'a-', '.localhost:x'],
  ['application/json', ';a', ''],
  ['', '"', ''],
  ['DNS:"', '\\"', ''],
  ['', '9', 'x'],
]

describe.each(Object.entries(readers))('reading %s', (_, read) => {
  it('takes linear time', () => {
    const growths = SHAPES.map((shape) => [shape.join('…'), growthOf(read, shape)] as const)
    expect(growths.filter(([, growth]) => growth >= 96)).toEqual([])
  })
})
