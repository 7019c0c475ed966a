import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { promote } from './promote.ts'

const FILE = `# Limits of the shop.
policies:
  - name: api # the only one
    rules:
      # Customers.
      - name: per-user
        by: [user]
        limit: 100/min # agreed in May
        candidate: { quota: 100, window: 1min, algorithm: sliding-window } # safer
      - name: trial
        by: [ip]
        limit: 10/s
        shadow: true
`

describe('promoting', () => {
  it('writes the file, or prints it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-promote-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'sluice.yaml')
    writeFileSync(file, FILE)
    let printed = ''
    const stdout = { write: (text: string) => (printed += text) }
    const streams = {
      stdin: new PassThrough(),
      stdout,
      stderr: stdout,
      signal: new AbortController().signal,
    }
    expect(await promote(file, 'trial', { dryRun: true }, streams)).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe(FILE)
    expect(printed).not.toContain('shadow')
    expect(await promote(file, 'trial', {}, streams)).toBe(0)
    expect(readFileSync(file, 'utf8')).not.toContain('shadow')
    expect(printed).toContain('trial: counted only → enforced\n')
  })

  it('names what is wrong', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-promote-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'sluice.yaml')
    writeFileSync(file, FILE)
    const stdout = { write: () => true }
    const streams = {
      stdin: new PassThrough(),
      stdout,
      stderr: stdout,
      signal: new AbortController().signal,
    }
    await expect(promote(file, 'other', {}, streams)).rejects.toThrow(
      'there is no rule "other" in the file',
    )
  })
})
