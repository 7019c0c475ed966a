import { describe, expect, it } from 'vitest'
import { promoteRule } from './promote-rule.ts'

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
  it('puts the candidate in the place of the limit, and keeps comments and order', () => {
    const { text, change } = promoteRule(FILE, 'per-user', undefined)
    expect(text).toBe(
      FILE.replace(
        'limit: 100/min # agreed in May\n',
        'limit: { quota: 100, window: 1min, algorithm: sliding-window } # safer; agreed in May\n',
      ).replace(/\n +candidate: .*/, ''),
    )
    expect(change).toBe('per-user: token bucket 100/min → sliding window 100/min')
  })

  it('keeps the comment of the limit when the candidate has none', () => {
    const { text } = promoteRule(FILE.replace(' # safer', ''), 'per-user', undefined)
    expect(text).toContain(
      'limit: { quota: 100, window: 1min, algorithm: sliding-window } # agreed in May\n',
    )
  })

  it('writes a document anew where a rule is on one line', () => {
    const line =
      'policies: [{ name: api, rules: [{ name: r, by: [ip], limit: 1/s, candidate: 2/s }] }] # x\n'
    expect(promoteRule(line, 'r', undefined).text).toBe(
      'policies: [ { name: api, rules: [ { name: r, by: [ ip ], limit: 2/s } ] } ] # x\n',
    )
  })

  it('enforces a shadow rule', () => {
    const { text, change } = promoteRule(FILE, 'trial', 'api')
    expect(text).toBe(FILE.replace('        shadow: true\n', ''))
    expect(change).toBe('trial: counted only → enforced')
  })

  it.each([
    ['other', undefined, 'there is no rule "other" in the file'],
    ['per-user', 'web', 'there is no rule "per-user" in the file'],
  ])('of %s in %s is a mistake', (rule, policy, message) => {
    expect(() => promoteRule(FILE, rule, policy)).toThrow(message)
  })

  it('of a rule without anything on trial is a mistake', () => {
    const { text } = promoteRule(FILE, 'trial', undefined)
    expect(() => promoteRule(text, 'trial', undefined)).toThrow(
      'has no candidate, and is no shadow',
    )
  })
})
