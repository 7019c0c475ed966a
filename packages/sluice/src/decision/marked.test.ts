import { describe, expect, it } from 'vitest'
import { createLimiter } from '../limiter/create-limiter.ts'
import { parsePolicy } from '../policy/parse.ts'
import { rateLimit } from '../http/fetch.ts'
import { explain } from './explain.ts'

const policy = {
  name: 'api',
  rules: [
    { name: 'fair use', by: ['user'], limit: '2/min', onExceed: 'mark' },
    { name: 'quiet', by: ['user'], limit: '3/min', onExceed: 'mark', hidden: true },
    { name: 'hard', by: ['user'], limit: '5/min' },
  ],
} as const

describe('a soft limit', () => {
  it('lets requests over it pass, and marks them', () => {
    const limiter = createLimiter({ policy })
    const marked = Array.from({ length: 5 }, () => limiter.check({ user: 'ann' }).marked)
    const both = ['fair use', 'quiet']
    expect(marked).toEqual([undefined, undefined, ['fair use'], both, both])
    const refused = limiter.check({ user: 'ann' })
    expect(refused).toMatchObject({ allowed: false, rule: 'hard' })
    expect(refused.marked).toBeUndefined()
  })

  it('is data of the decision and its outcome, and words of its explanation', () => {
    const limiter = createLimiter({ policy })
    for (let i = 0; i < 2; i++) limiter.check({ user: 'ann' })
    const decision = limiter.check({ user: 'ann' })
    expect(JSON.parse(JSON.stringify(decision))).toMatchObject({
      marked: ['fair use'],
      outcomes: [{ rule: 'fair use', marked: true, allowed: false }, {}, {}],
    })
    expect(explain(decision)).toContain('marked by fair use')
    expect(JSON.stringify(limiter.check({ user: 'bob' }))).not.toContain('marked')
  })

  it('is written in a header field, unless the rule is hidden', async () => {
    const limit = rateLimit({ policy, attributes: () => ({ user: 'ann' }) })
    const handler = limit(() => new Response('ok'))
    const fields: (string | null)[] = []
    for (let i = 0; i < 4; i++) {
      const response = await handler(new Request('http://localhost/'))
      fields.push(response.headers.get('x-ratelimit-marked'))
    }
    expect(fields).toEqual([null, null, '"fair use"', '"fair use"'])
  })

  it.each([
    ['structured', 'Retry-After, RateLimit-Policy, RateLimit, X-RateLimit-Marked', '"fair use"'],
    [false, 'Retry-After', null],
  ] as const)(
    'can be read by scripts of other origins where fields are shown: headers %s',
    async (headers, exposed, marked) => {
      const attributes = () => ({ user: 'ann' })
      const limit = rateLimit({ policy, attributes, headers, exposeHeaders: true })
      const handler = limit(() => new Response('ok'))
      let last = new Response()
      for (let i = 0; i < 3; i++) last = await handler(new Request('http://localhost/'))
      expect(last.headers.get('access-control-expose-headers')).toBe(exposed)
      expect(last.headers.get('x-ratelimit-marked')).toBe(marked)
    },
  )

  it.each<[object, string]>([
    [{ onExceed: 'warn' }, 'rules[0].onExceed is "warn"; accepted: refuse, mark'],
    [{ onExceed: true }, 'rules[0].onExceed is true'],
    [{ onExceed: 'mark', lockout: { after: 1, for: '1h' } }, 'rules[0].lockout'],
  ])('%j is a mistake', (more, message) => {
    const rules = [{ name: 'r', by: [], limit: '1/min', ...more }]
    expect(() => parsePolicy({ name: 'p', rules })).toThrow(message)
  })
})
