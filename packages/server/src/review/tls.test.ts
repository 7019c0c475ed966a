// Files of TLS in a review: mistakes and traps at their places.
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { authority, type Authority } from '../../../../test/tls/authority.ts'
import { loadForStart } from './load-for-start.ts'
import { problemText } from '../config/problem.ts'
import { reviewFile } from './review.ts'

let ours: Authority
let file: string
beforeAll(() => {
  ours = authority()
  file = join(ours.folder, 'sluice.yaml')
})
afterAll(() => ours.close())

/** A file whose HTTP listener has these lines under `tls`. */
function written(...lines: readonly string[]): string {
  const tls = lines.map((line) => `      ${line}\n`).join('')
  const policy = '  - { name: api, rules: [{ name: all, by: [], limit: 1/s }] }\n'
  writeFileSync(file, `policies:\n${policy}listeners:\n  http:\n    tls:\n${tls}`)
  return file
}
const nameOf = (path: string) => path.slice(ours.folder.length + 1)

test('a file that is missing or wrong is a mistake with a place, for the start and for the review', async () => {
  const { cert } = ours.issue('localhost')
  written('cert: none.crt', `key: ${nameOf(cert)}`)
  const expected = [
    `${file}:6:13: listeners.http.tls.cert is "none.crt"; the file cannot be read: ENOENT: no such file or directory, stat '${ours.folder}/none.crt'`,
    `${file}:7:12: listeners.http.tls.key is "${nameOf(cert)}"; the file holds no private key in PEM form`,
  ]
  expect((await reviewFile(file)).problems.map(problemText)).toEqual(expected)
  const loaded = await loadForStart(file)
  expect(loaded.problems.map(problemText)).toEqual(expected)
  expect(loaded.config).toBeUndefined()
})

test.each([
  [['cert: a.crt'], 'listeners.http.tls.key is missing; accepted: the path of a PEM file'],
  [
    ['cert: a.crt', 'key: a.key', 'clients: optional'],
    'listeners.http.tls.clients is "optional"; accepted: clients together with ca',
  ],
  [
    ['cert: a.crt', 'key: a.key', 'minVersion: SSLv3'],
    'listeners.http.tls.minVersion is "SSLv3"; accepted: TLSv1.2, TLSv1.3',
  ],
  [
    ['cert: a.crt', 'key: a.key', 'passphrase: x'],
    'listeners.http.tls.passphrase is not a known field; accepted: cert, key, ca, clients, clientNames, minVersion',
  ],
])('%o is a mistake', async (lines, sentence) => {
  const { problems } = await reviewFile(written(...lines))
  expect(problems.map(({ message }) => message.slice(0, sentence.length))).toEqual([sentence])
})

test('a key that all can read and a certificate that is about to end are traps', async () => {
  const { cert, key } = ours.issue('localhost', 5)
  chmodSync(key, 0o644)
  const { warnings, problems } = await reviewFile(
    written(`cert: ${nameOf(cert)}`, `key: ${nameOf(key)}`),
  )
  expect(problems).toEqual([])
  expect(warnings.map(({ code, line, path }) => [code, line, path])).toEqual([
    ['exposed-key', 7, 'listeners.http.tls.key'],
    ['old-certificate', 6, 'listeners.http.tls.cert'],
  ])
})

test('a good pair is fine', async () => {
  const { cert, key } = ours.issue('localhost')
  const { warnings, config } = await reviewFile(written(`cert: ${cert}`, `key: ${key}`))
  expect(warnings).toEqual([])
  expect(config?.listeners.http.tls).toEqual({ cert, key, minVersion: 'TLSv1.2' })
})
