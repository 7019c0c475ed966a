import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { OVERRIDE_FIELDS, POLICY_FIELDS, RULE_FIELDS, TIERS_FIELDS } from './fields.ts'
import { parsePolicy } from './parse.ts'

const page = readFileSync(new URL('../../../../docs/reference/policy.md', import.meta.url), 'utf8')
const examples = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map((match) => {
  const policy = JSON.parse(match[1]!) as { name: string }
  return [policy.name, policy] as const
})

describe('the page on policies', () => {
  it('has examples', () => {
    expect(examples.length).toBeGreaterThan(5)
  })

  it.each(examples)('has a valid example: %s', (name, policy) => {
    expect(parsePolicy(policy).name).toBe(name)
  })

  it.each([...POLICY_FIELDS, ...RULE_FIELDS])('explains the field %s', (field) => {
    expect(page).toMatch(new RegExp(`^\\| \`${field}\` `, 'm'))
  })

  it.each([...TIERS_FIELDS, ...OVERRIDE_FIELDS])('shows the field %s', (field) => {
    expect(page).toContain(`"${field}":`)
  })

  it('quotes the mistakes as the parser reports them', () => {
    const rules = [
      { name: 'per-user', by: ['user'], limt: '1/s' },
      { name: 'per-user', by: ['user'], limit: '1/s' },
    ]
    const quoted = /```text\n([\s\S]*?)\n```/.exec(page)![1]
    expect(() => parsePolicy({ name: 'api', rules })).toThrow(
      expect.objectContaining({ message: quoted }),
    )
  })
})
