import { expect, it } from 'vitest'
import { tryPolicy } from './try-policy.ts'

it('lets other work in between when there are many rules', async () => {
  const rules = Array.from({ length: 1000 }, (_, i) => ({
    name: `r${i}`,
    by: ['user'],
    limit: '9/h',
  }))
  const requests = Array.from({ length: 20 }, (_, i) => ({
    at: i,
    policy: 'api',
    attributes: { user: 'ann' },
    cost: 1,
    allowed: true,
  }))
  let turns = 0
  const turn = (): void => {
    turns += 1
    next = setImmediate(turn)
  }
  let next = setImmediate(turn)
  const { result } = await tryPolicy(
    JSON.stringify({ policies: [{ name: 'api', rules }] }),
    [],
    requests,
  )
  clearImmediate(next)
  expect(result).toMatchObject({ requests: 20, newlyRefused: 11 })
  expect(turns).toBeGreaterThanOrEqual(9)
})

it('is made on fewer requests, the newest, when the rules are very many', async () => {
  const rules = Array.from({ length: 1000 }, (_, i) => ({
    name: `r${i}`,
    by: ['user'],
    limit: '9/h',
  }))
  const requests = Array.from({ length: 600 }, (_, i) => ({
    at: i,
    policy: 'other',
    attributes: { user: 'ann' },
    cost: 1,
    allowed: true,
  }))
  const { result } = await tryPolicy(
    JSON.stringify({ policies: ['a', 'b', 'c', 'd'].map((name) => ({ name, rules })) }),
    [],
    requests,
  )
  expect(result).toMatchObject({ requests: 500, span: 499 })
})

it('is not made with more rules in one policy than one turn has time for', async () => {
  const rules = Array.from({ length: 1001 }, (_, i) => ({
    name: `r${i}`,
    by: ['user'],
    limit: '9/h',
  }))
  const { result, problems } = await tryPolicy(
    JSON.stringify({ policies: [{ name: 'api', rules }] }),
    [],
    [],
  )
  expect([result, problems[0]?.message]).toEqual([null, expect.stringContaining('at most 1000')])
})
