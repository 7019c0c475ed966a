// Files that listeners name, in a review and at the start: mistakes at their places.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { authority } from '../../../../test/tls/authority.ts'
import { reviewFile } from './review.ts'
import { loadForStart } from './load-for-start.ts'
import { problemText } from '../config/problem.ts'

const token = 'ann a-token-of-at-least-24-characters\n'

/** A configuration beside a file of tokens and one of certificates with these texts, or without them. */
function written(tokens: string | undefined, certificates: string | undefined) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-files-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'sluice.yaml')
  const policy = '  - { name: api, rules: [{ name: all, by: [], limit: 1/s }] }\n'
  const listeners =
    "  admin: { tokenFile: tokens }\n  proxy: { upstreamCa: ca.crt, upstream: 'https://localhost' }\n"
  writeFileSync(file, `policies:\n${policy}listeners:\n${listeners}`)
  if (tokens !== undefined) writeFileSync(join(folder, 'tokens'), tokens)
  if (certificates !== undefined) writeFileSync(join(folder, 'ca.crt'), certificates)
  return { file, folder }
}

function certificate(): string {
  const ours = authority()
  onTestFinished(() => ours.close())
  return readFileSync(ours.ca, 'utf8')
}

const ofTokens = '4:23: listeners.admin.tokenFile is "tokens"; the file is of no use: '
const ofAuthority = '5:24: listeners.proxy.upstreamCa is "ca.crt"; the file is of no use: '

test.each([
  ['tokens that are missing', undefined, certificate, `${ofTokens}ENOENT: `],
  ['no token', '# nobody yet\n', certificate, `${ofTokens}F/tokens: there is no token in it; `],
  [
    'a short token',
    'ann hunter2\n',
    certificate,
    `${ofTokens}F/tokens:1: accepted: a token, a name`,
  ],
  ['an authority that is missing', token, undefined, `${ofAuthority}ENOENT: `],
  ['an authority of nobody', token, () => 'hunter2', `${ofAuthority}it holds no certificate`],
])('%s: a mistake for the start and for the review', async (_, tokens, ca, sentence) => {
  const { file, folder } = written(tokens, ca?.())
  const expected = `${file}:${sentence.replace('F/', `${folder}/`)}`
  for (const { config, problems } of [await reviewFile(file), await loadForStart(file)]) {
    expect(config).toBeUndefined()
    const texts = problems.map(problemText)
    expect(texts.map((text) => text.slice(0, expected.length))).toEqual([expected])
    expect(texts.join()).not.toContain('hunter2')
  }
})

test('good ones are none', async () => {
  const { file } = written(token, certificate())
  expect((await reviewFile(file)).problems).toEqual([])
  expect((await loadForStart(file)).config).toBeDefined()
})
