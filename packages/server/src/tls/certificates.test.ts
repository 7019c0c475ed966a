// Certificates while the service runs: renewed, broken, half written, old.
import { chmodSync, copyFileSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:tls'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { until } from '../../../../test/servers/until.ts'
import {
  authority,
  replaceFile,
  type Authority,
  type Pair,
} from '../../../../test/tls/authority.ts'
import { MetricRegistry } from '../metrics/registry.ts'
import type { Log } from '../log/log.ts'
import { Certificates, type CertificateOptions } from './certificates.ts'
import { readTlsFiles } from './tls-files.ts'

const DAY = 86_400_000
const minVersion = 'TLSv1.2'

let ours: Authority
let pair: Pair
let other: Pair
beforeAll(() => {
  ours = authority()
  other = ours.issue('localhost')
})
afterAll(() => ours.close())
beforeEach(() => {
  pair = ours.issue('localhost')
})

/** Certificates with what they log and count. */
function made(options: Partial<CertificateOptions> = {}) {
  const metrics = new MetricRegistry()
  const lines: { level: string; fields: Record<string, unknown>; message: string }[] = []
  const to = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, fields: fields as Record<string, unknown>, message })
  const log: Log = { debug: to('debug'), info: to('info'), warn: to('warn'), error: to('error') }
  const certificates = new Certificates({ metrics, log, watch: false, ...options })
  onTestFinished(() => certificates.close())
  const messages = (level: string) =>
    lines.filter((line) => line.level === level).map(({ message }) => message)
  return { certificates, lines, messages, figures: () => metrics.text() }
}

/** What a server was given since it was attached. */
function attached(tls: { options: object; attach(server: Server): void }): () => number {
  let renewals = 0
  const server = createServer(tls.options)
  tls.attach(server)
  const set = server.setSecureContext.bind(server)
  server.setSecureContext = (options) => {
    renewals++
    set(options)
  }
  return () => renewals
}

describe('while it runs', () => {
  test('a changed pair is noticed without a word', async () => {
    const { certificates, messages } = made({ watch: { settle: 20, poll: 50 } })
    const tls = (await certificates.open('http', { ...pair, minVersion }))!
    const renewals = attached(tls)
    const before = tls.digest
    replaceFile(pair.key, other.key)
    replaceFile(pair.cert, other.cert)
    await until('it is in force', 5000, async () => tls.digest !== before)
    expect(renewals()).toBe(1)
    expect(messages('info')).toEqual(['the changed certificate is in force'])
  })

  test('a link that a mounted volume swaps is noticed', async () => {
    const folder = join(ours.folder, 'mounted')
    for (const [name, from] of [
      ['..one', pair],
      ['..two', other],
    ] as const) {
      mkdirSync(join(folder, name), { recursive: true })
      copyFileSync(from.cert, join(folder, name, 'tls.crt'))
      copyFileSync(from.key, join(folder, name, 'tls.key'))
    }
    symlinkSync('..one', join(folder, '..data'))
    for (const name of ['tls.crt', 'tls.key']) symlinkSync(`..data/${name}`, join(folder, name))
    const { certificates, messages } = made({ watch: { settle: 20, poll: 60_000 } })
    const files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') }
    const tls = (await certificates.open('http', { ...files, minVersion }))!
    const before = tls.digest
    symlinkSync('..two', join(folder, '..data_tmp'))
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
    await until('it is in force', 5000, async () => tls.digest !== before)
    expect(messages('error')).toEqual([])
  })

  test.each([
    ['a key of another certificate', () => replaceFile(pair.key, other.key), 'is not the key of'],
    ['half a certificate', () => writeFileSync(pair.cert, '-----BEGIN CERTIF'), 'no certificate'],
    ['an empty key', () => writeFileSync(pair.key, ''), 'holds no private key'],
    [
      'a folder',
      () => (renameSync(pair.key, `${pair.key}.old`), mkdirSync(pair.key)),
      'not a file',
    ],
    ['nothing', () => renameSync(pair.cert, `${pair.cert}.old`), 'cannot be read: ENOENT'],
  ])('%s: the old one stays, and it is said once', async (_, breakIt, reason) => {
    const { certificates, lines, figures } = made()
    const tls = (await certificates.open('http', { ...pair, minVersion }))!
    const renewals = attached(tls)
    const before = tls.digest
    breakIt()
    expect(await certificates.reload()).toBe('failed')
    expect(await certificates.reload()).toBe('failed')
    expect([tls.digest, renewals()]).toEqual([before, 0])
    expect(lines.map(({ level }) => level)).toEqual(['error'])
    expect(String(lines[0]!.fields['problems'])).toContain(reason)
    expect(String(lines[0]!.fields['problems'])).not.toContain('BEGIN')
    expect(figures()).toContain('sluice_tls_reloads_total{listener="http",result="failed"} 1')
  })

  test('files that could not be read are read again, without a change of theirs', async () => {
    const { certificates, messages } = made()
    const tls = (await certificates.open('http', { ...pair, minVersion }))!
    const before = tls.digest
    renameSync(pair.cert, `${pair.cert}.away`)
    expect(await certificates.reload()).toBe('failed')
    copyFileSync(other.key, pair.key)
    copyFileSync(other.cert, pair.cert)
    await until('the new pair is in force', 5000, async () => tls.digest !== before)
    expect(messages('info')).toEqual(['the changed certificate is in force'])
  })

  test('a pair that was broken and is whole again is taken', async () => {
    const { certificates, messages } = made()
    const tls = (await certificates.open('http', { ...pair, minVersion }))!
    replaceFile(pair.key, other.key)
    expect(await certificates.reload()).toBe('failed')
    replaceFile(pair.cert, other.cert)
    expect(await certificates.reload()).toBe('applied')
    expect(await certificates.reload()).toBe('unchanged')
    expect(messages('error')).toHaveLength(1)
    expect(tls.options.cert).toContain('BEGIN CERTIFICATE')
  })

  test('many reloads at once end with the newest files', async () => {
    const { certificates } = made()
    const tls = (await certificates.open('http', { ...pair, minVersion }))!
    const spare = { cert: `${pair.cert}.spare`, key: `${pair.key}.spare` }
    for (const part of ['cert', 'key'] as const) copyFileSync(pair[part], spare[part])
    const reloads: Promise<string>[] = []
    for (const next of [other, spare, other, spare, other]) {
      replaceFile(pair.cert, next.cert)
      reloads.push(certificates.reload())
      replaceFile(pair.key, next.key)
      reloads.push(certificates.reload())
    }
    await Promise.all(reloads)
    const read = await readTlsFiles({ ...other, minVersion })
    expect('files' in read && read.files.digest).toBe(tls.digest)
  })
})

describe('a certificate’s age', () => {
  const WEEK = 7
  test.each([
    ['far from its end', 60, []],
    ['within two weeks of it', WEEK, ['the certificate expires soon']],
    ['over', -1, ['the certificate has expired']],
  ])('%s', async (_, daysLeft, expected) => {
    const { certificates, messages, figures } = made({
      clock: () => Date.now() + (90 - daysLeft) * DAY,
    })
    await certificates.open('http', { ...pair, minVersion })
    expect(messages('warn')).toEqual(expected)
    const shown = Number(/expiry_timestamp_seconds\{listener="http"\} (\d+)/.exec(figures())?.[1])
    expect(Math.abs(shown - (Date.now() + 90 * DAY) / 1000)).toBeLessThan(3600)
  })

  test('is reported while the service runs', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const { certificates, messages } = made({ clock: () => Date.now() })
    await certificates.open('http', { ...pair, minVersion })
    vi.advanceTimersByTime(75 * DAY)
    expect(messages('warn')).toEqual([])
    vi.advanceTimersByTime(1.5 * DAY)
    expect(messages('warn')).toContain('the certificate expires soon')
  })
})

test('a key that every user can read is warned of', async () => {
  chmodSync(pair.key, 0o644)
  const { certificates, lines } = made()
  await certificates.open('http', { ...pair, minVersion })
  expect(lines.map(({ message }) => message)).toEqual([
    'every user of this machine can read the private key',
  ])
  expect(lines[0]!.fields).toEqual({ listener: 'http', key: pair.key })
})

test('relative files are beside the configuration', async () => {
  const { certificates } = made({ file: join(ours.folder, 'sluice.yaml') })
  const name = (path: string) => path.slice(ours.folder.length + 1)
  const files = { cert: name(pair.cert), key: `./${name(pair.key)}` }
  const tls = await certificates.open('http', { ...files, minVersion })
  expect(tls!.config).toMatchObject(pair)
})

test('without tls there is nothing to open', async () => {
  const { certificates, figures } = made()
  expect(await certificates.open('http', undefined)).toBeUndefined()
  expect(figures()).not.toContain('tls')
})
