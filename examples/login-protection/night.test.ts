// The night as a test: what each strategy lets through, and whom it refuses.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { night, table } from './night.js'
import { strategies } from './strategies.js'

const rows = Object.keys(strategies).map(night)
const [perAddress, tight, preset] = rows

describe('50,000 stolen passwords in 60 seconds from 2,000 addresses', () => {
  it('pass a limit per address nearly all', () => {
    expect(perAddress!.attackShare).toBeGreaterThan(0.95)
  })

  it('are held up by tight limits, which lock the employees out', () => {
    expect(tight!.attackShare).toBeLessThan(0.25)
    expect(tight!.employeesRefused).toBeGreaterThan(450)
  })

  it('reach the password check in at most 2 % with the preset, and no employee is refused', () => {
    expect(preset!.attackShare).toBeLessThanOrEqual(0.02)
    expect(preset!.employeesRefused).toBe(0)
  })

  it('give the table of the guide', () => {
    const page = readFileSync(
      new URL('../../docs/guide/login-protection.md', import.meta.url),
      'utf8',
    )
    const plain = (text: string): string => text.replaceAll(/ {2,}/g, ' ').replaceAll(/-{2,}/g, '-')
    for (const line of table(rows).split('\n')) expect(plain(page)).toContain(plain(line))
  })
})
