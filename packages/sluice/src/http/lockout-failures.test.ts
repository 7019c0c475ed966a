import { expect, it } from 'vitest'
import { createLimiter } from '../limiter/create-limiter.ts'
import type { Decision } from '../decision/decision.ts'
import { rateLimit } from './fetch.ts'

it('counts what `after` charges as a failure, which locks the key out', async () => {
  const limiter = createLimiter({
    policy: {
      name: 'logins',
      rules: [
        {
          name: 'per-account',
          by: ['account'],
          limit: '100/min',
          lockout: { after: 3, for: '10min' },
        },
      ],
    },
  })
  const statuses = [200, 401, 200, 401, 200, 401, 200]
  const reasons: string[] = []
  const guarded = rateLimit(limiter, {
    attributes: { account: () => 'ann' },
    after: ({ status }) => (status === 401 ? 1 : 0),
    onDecision: ({ reason }: Decision) => void reasons.push(reason),
  })
  const handler = guarded(() => new Response('', { status: statuses.shift()! }))
  const answers: number[] = []
  for (let i = 0; i < 7; i++)
    answers.push((await handler(new Request('http://a.example/login'))).status)
  expect(answers).toEqual([200, 401, 200, 401, 200, 401, 429])
  expect(reasons.at(-1)).toBe('locked-out')
})
