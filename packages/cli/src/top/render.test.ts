import { describe, expect, it } from 'vitest'
import { render } from './render.ts'
import { fitted } from '../terminal/fitted.ts'
import type { View } from './view.ts'

const rate = (policy: string, rule: string, allowed: number, refused: number) => {
  return { policy, rule, allowed, refused, unavailable: 0, blocked: 0 }
}

const view: View = {
  url: 'http://127.0.0.1:8080',
  version: '1.2.3',
  status: 'serving',
  decisions: 1250,
  refused: 250,
  blocked: 0,
  unavailable: 0,
  degraded: 0,
  p50: 0.0412,
  p99: 12.4,
  breakers: {},
  keys: 12_345,
  memory: 87_654_321,
  blocks: 2,
  overrides: 0,
  rules: [rate('api', 'per-user', 1000, 250), rate('api', 'all', 0, 0), rate('api', '', 0, 0)],
  offenders: [
    { policy: 'api', rule: 'per-user', attributes: { user: 'ann' }, refused: 12_000 },
    { policy: 'api', rule: 'all', attributes: {}, refused: 7 },
  ],
  offendersProblem: null,
}
const wide = { columns: 80, rows: Infinity, colour: false }

describe('the screen', () => {
  it('says what is decided, by which rule, and who is refused', () => {
    expect(render(view, wide)).toEqual([
      'sluice 1.2.3  serving  http://127.0.0.1:8080',
      'decisions 1,250/s  refused 250/s (20.0%)  p50 0.041 ms  p99 12 ms  degraded 0/s',
      '12,345 keys  2 blocked  0 overrides  88 MB',
      '',
      'POLICY, RULE                                     allowed/s  refused/s    refused',
      'api',
      '  per-user                                           1,000        250      20.0%',
      '  all                                                    0          0          -',
      '',
      'REFUSED MOST, in the last minute or two                                  refused',
      '  user=ann  (api, per-user)                                               12,000',
      '  everybody  (api, all)                                                        7',
    ])
  })

  it('says when it is not well', () => {
    const sick = { ...view, status: 'not ready', degraded: 9, keys: null } as const
    const text = render({ ...sick, breakers: { api: 'open', web: 'closed' } }, wide).join('\n')
    expect(text).toContain('not ready')
    expect(text).toContain('degraded 9.0/s')
    expect(text).toContain('breaker of api open')
  })

  it('says why no key is shown', () => {
    expect(render({ ...view, offenders: [] }, wide).at(-1)).toBe('  none')
    const without = { ...view, offenders: [], offendersProblem: 'there is no token' }
    expect(render(without, wide).at(-1)).toBe('  there is no token')
  })

  it.each([20, 30, 40, 59, 60, 80, 200])('fits in %i columns', (columns) => {
    const long = { ...view, url: `http://${'x'.repeat(300)}` }
    for (const line of render(long, { ...wide, columns }))
      expect(line.length).toBeLessThanOrEqual(columns)
  })

  it.each([8, 10, 12, 24])('fits in %i rows, and says how much more there is', (rows) => {
    const many = {
      ...view,
      rules: Array.from({ length: 50 }, (_, i) => rate('api', `rule-${i}`, 1, 0)),
      offenders: Array.from({ length: 50 }, () => view.offenders[0]!),
    }
    const lines = render(many, { ...wide, rows })
    expect(lines).toHaveLength(rows)
    expect(lines[0]).toContain('serving')
    expect(lines.join('\n')).toMatch(/… \d+ more/)
  })

  it('has colours only where they are wanted', () => {
    expect(render(view, wide).join('')).not.toContain('\u001b')
  })

  it('text that strangers chose cannot steer the terminal', () => {
    const user = '\u001b[2J\u009b31m\r\n\u0007\u202eevil'
    const hostile = { ...view.offenders[0]!, attributes: { user } }
    const text = render({ ...view, offenders: [hostile] }, wide).join('\n')
    expect(text).toContain('evil')
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })
})

describe('fitted', () => {
  it.each<[string, number, string]>([
    ['abc', 5, 'abc  '],
    ['abcdef', 5, 'abcd…'],
    ['日本語', 6, '日本語'],
    ['日本語', 5, '日本…'],
    ['日本語', 4, '日… '],
    ['e\u0301x', 3, 'e\u0301x '],
    ['', 0, ''],
  ])('%j in %i columns is %j', (text, columns, expected) => {
    expect(fitted(text, columns)).toBe(expected)
  })
})
