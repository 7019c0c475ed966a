// Files that cannot serve as keys and certificates are told apart, without a word of what they hold.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { authority, type Authority, type Pair } from '../../../../test/tls/authority.ts'
import { readTlsFiles, tlsBeside } from './tls-files.ts'

let ours: Authority
let pair: Pair
const path = (name: string) => join(ours.folder, name)
beforeAll(() => {
  ours = authority()
  pair = ours.issue('localhost')
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' })
  openssl('ec', '-in', pair.key, '-aes256', '-passout', 'pass:hunter2', '-out', path('locked.key'))
  const weak = ['-newkey', 'rsa:512', '-nodes', '-subj', '/CN=x', '-days', '2']
  openssl('req', '-x509', ...weak, '-keyout', path('weak.key'), '-out', path('weak.crt'))
  writeFileSync(path('empty'), '')
  writeFileSync(path('noise'), Buffer.from(Array.from({ length: 999 }, (_, i) => i % 256)))
  writeFileSync(
    path('damaged.crt'),
    readFileSync(pair.cert, 'utf8').replace(/\n[A-Za-z0-9+/]{20}/, '\nAAAAAAAAAAAAAAAAAAAA'),
  )
  writeFileSync(path('large'), 'x'.repeat(1_100_000))
})
afterAll(() => ours.close())

const problems = async (files: object) => {
  const read = await readTlsFiles({ ...pair, minVersion: 'TLSv1.2', ...files })
  return 'problems' in read ? read.problems.map(({ field, reason }) => `${field} ${reason}`) : []
}

test.each([
  [{}, []],
  [{ cert: 'none.crt' }, ['cert cannot be read: ENOENT']],
  [{ cert: '.' }, ['cert cannot be read: it is not a file']],
  [{ cert: '/dev/zero' }, ['cert cannot be read: it is not a file']],
  [{ cert: 'large' }, ['cert cannot be read: it has more than 1048576 bytes']],
  [{ cert: 'empty' }, ['cert holds no certificate in PEM form']],
  [{ cert: 'noise' }, ['cert holds no certificate in PEM form']],
  [{ cert: 'damaged.crt' }, ['cert has a certificate that cannot be understood, number 1']],
  [{ key: 'empty' }, ['key holds no private key in PEM form']],
  [{ key: 'noise' }, ['key holds no private key in PEM form']],
  [{ key: 'ca.crt' }, ['key holds no private key in PEM form']],
  [{ key: 'locked.key' }, ['key is encrypted; accepted: a key without a passphrase']],
  [{ key: 'ca.key' }, ['key is not the key of the first certificate']],
  [{ ca: 'empty' }, ['ca holds no certificate']],
  [{ ca: 'ca.key' }, ['ca holds no certificate']],
  [{ cert: 'weak.crt', key: 'weak.key' }, ['cert is not accepted: ']],
  [{ cert: 'empty', key: 'empty', ca: 'empty' }, ['cert holds', 'key holds', 'ca holds']],
])('%o', async (files: Record<string, string>, expected) => {
  const beside = tlsBeside(
    { cert: pair.cert, key: pair.key, minVersion: 'TLSv1.2', ...files },
    path('sluice.yaml'),
  )
  const found = await problems(beside)
  expect(found.map((text, i) => text.slice(0, expected[i]?.length))).toEqual(expected)
  expect(found.join()).not.toContain('hunter2')
})

test.each([
  ['RSA', ['-newkey', 'rsa:2048']],
  ['Ed25519', ['-newkey', 'ed25519']],
])('a pair of %s is taken', async (name, kind) => {
  const [cert, key] = [path(`${name}.crt`), path(`${name}.key`)]
  const words = ['req', '-x509', ...kind, '-nodes', '-subj', '/CN=x', '-days', '30']
  execFileSync('openssl', [...words, '-keyout', key, '-out', cert], { stdio: 'pipe' })
  expect(await problems({ cert, key })).toEqual([])
})

test('a key behind its parameters, and both in one file with other line ends, are taken', async () => {
  const both = path('both.pem')
  const parameters = execFileSync('openssl', ['ecparam', '-name', 'prime256v1'], {
    encoding: 'utf8',
  })
  const text = parameters + readFileSync(pair.key, 'utf8') + readFileSync(pair.cert, 'utf8')
  writeFileSync(both, text.replaceAll('\n', '\r\n'))
  expect(await problems({ cert: both, key: both })).toEqual([])
})

test('a chain ends with its first certificate to end', async () => {
  const [short, chain] = [ours.issue('short', 3), path('chain.crt')]
  writeFileSync(chain, readFileSync(pair.cert, 'utf8') + readFileSync(short.cert, 'utf8'))
  const read = await readTlsFiles({ cert: chain, key: pair.key, minVersion: 'TLSv1.2' })
  const days = 'files' in read ? (read.files.expires - Date.now()) / 86_400_000 : 0
  expect(Math.round(days)).toBe(3)
})
