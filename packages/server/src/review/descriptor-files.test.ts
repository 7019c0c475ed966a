// What descriptor files have to say is said by the review and, when the service starts, in its log.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { DomainFiles } from '../envoy/files/domain-files.ts'
import { reviewFile } from './review.ts'

const LIMIT = 'rate_limit: { unit: day, requests_per_unit: 1 }'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'sluice-review-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

describe('descriptor files', () => {
  test('are reviewed with the configuration that names them', async () => {
    const path = folder()
    mkdirSync(join(path, 'limits'))
    const file = join(path, 'sluice.yaml')
    writeFileSync(
      file,
      `envoy: { files: [limits] }\npolicies: [{ name: shop, rules: [{ name: all, by: [], limit: 1/s }] }]\n`,
    )
    const codes = async () => (await reviewFile(file)).warnings.map(({ code }) => code)
    expect(await codes()).toContain('no-files')
    writeFileSync(
      join(path, 'limits/shop.yaml'),
      `domain: shop\ndescriptors: [{ key: user, value: "\${USER}", ${LIMIT} }]\n`,
    )
    expect(await codes()).toEqual(expect.arrayContaining(['plain-variable', 'policy-hidden']))
    expect(await codes()).not.toContain('no-files')
  })

  test('are reviewed alone, replaces included', async () => {
    const file = join(folder(), 'shop.yaml')
    const replaces = LIMIT.replace('1 }', '1, replaces: [{ name: none }] }')
    writeFileSync(file, `domain: shop\ndescriptors: [{ key: user, ${replaces} }]\n`)
    expect((await reviewFile(file)).warnings).toMatchObject([
      { code: 'replaces-nothing', line: 2, help: expect.stringContaining('#replaces-nothing') },
    ])
  })

  test.each([
    ['domain: shop\ndescriptor: []\n', 'did you mean descriptors?'],
    [`descriptors: [{ key: user, ${LIMIT} }]\n`, 'domain is missing'],
  ])('are known by half of what they need: %s', async (text, message) => {
    const file = join(folder(), 'shop.yaml')
    writeFileSync(file, text)
    const [problem] = (await reviewFile(file)).problems
    expect(problem!.message).toContain(message)
  })

  test('are reported in the log when they come into force', () => {
    const path = folder()
    const lines: unknown[] = []
    const log = { warn: (...line: unknown[]) => lines.push(line), info: () => {}, error: () => {} }
    const files = new DomainFiles([path], {}, { swap: () => {} }, log as never)
    expect(lines).toEqual([
      [{ trap: 'no-files' }, expect.stringMatching(/^.*: the folder holds no \.yaml/)],
    ])
    writeFileSync(join(path, 'shop.yaml'), `domain: shop\n`)
    expect(files.reload()).toBe('applied')
    expect(lines).toHaveLength(2)
    expect(lines[1]).toEqual([{ trap: 'no-descriptors' }, expect.stringContaining('shop.yaml:1:1')])
  })
})
