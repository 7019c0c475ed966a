import { describe, expect, it } from 'vitest'
import { parsePolicy } from 'sluice'
import type { LiveOverride } from './control.ts'
import { overlaid } from './overlay.ts'

describe('overrides over the file', () => {
  const policy = parsePolicy({
    name: 'api',
    rules: [
      {
        name: 'per-user',
        by: ['user'],
        limit: '5/min',
        overrides: [{ when: { user: 'ann' }, limit: '6/min' }],
      },
    ],
  })
  const live = (more: Partial<LiveOverride>): LiveOverride => ({
    kind: 'override',
    id: 'a',
    policy: 'api',
    rule: 'per-user',
    when: { user: 'ann' },
    limit: '7/min',
    note: '',
    by: 'test',
    since: 0,
    until: null,
    ...more,
  })

  it('go before those of the file, the newest first', () => {
    const { policies, idle } = overlaid(
      [policy],
      [live({}), live({ id: 'b', since: 5, limit: '8/min' })],
    )
    const quotas = policies[0]!.rules[0]!.overrides!.map(
      ({ limit }) => (limit as { quota: number }).quota,
    )
    expect(quotas).toEqual([8, 7, 6])
    expect(idle.size).toBe(0)
  })

  it('leave a policy alone that none of them is about', () => {
    const { policies } = overlaid([policy], [live({ policy: 'web' })])
    expect(policies[0]).toBe(policy)
  })

  it.each<[Partial<LiveOverride>, RegExp]>([
    [{ policy: 'web' }, /no policy/],
    [{ rule: 'gone' }, /no rule/],
    [{ limit: 'nonsense' as '1/min' }, /limit is "nonsense"/],
    [{ when: { user: { network: 'x' } } }, /network/],
  ])('wait with a reason while they do not fit: %o', (more, why) => {
    const good = live({ id: 'good' })
    const { policies, idle } = overlaid([policy], [live({ id: 'bad', ...more }), good])
    expect(idle.get('bad')).toMatch(why)
    expect(policies[0]!.rules[0]!.overrides).toHaveLength(2)
  })
})

it('parses each override once, however often the others change', () => {
  const policy = parsePolicy({
    name: 'api',
    rules: [{ name: 'per-user', by: ['user'], limit: '10/min' }],
  })
  const override = (i: number): LiveOverride => ({
    kind: 'override',
    id: String(i),
    since: i,
    until: null,
    note: '',
    by: 'ops',
    policy: 'api',
    rule: 'per-user',
    when: { user: `user ${i}` },
    limit: '7/min',
  })
  const some = [1, 2, 3].map(override)
  const first = overlaid([policy], some).policies[0]!.rules[0]!.overrides!
  const more = overlaid([policy], [...some, override(4)]).policies[0]!.rules[0]!.overrides!
  expect(more).toHaveLength(4)
  for (const one of first) expect(more).toContain(one)
})
