import { parsePolicy } from 'sluice'
import { expect, it } from 'vitest'
import { ReloadHistory } from './reload-history.ts'

const policy = (limit: string) =>
  parsePolicy({ name: 'api', rules: [{ name: 'all', by: ['user'], limit }] })

it('keeps what each reload has changed, in words', () => {
  let inForce = { generation: 1, policies: [policy('10/min')] }
  const history = new ReloadHistory(() => inForce)
  history.look(1000)
  expect(history.list).toEqual([])
  inForce = { generation: 2, policies: [policy('12/min')] }
  history.look(2000)
  history.look(3000)
  expect(history.list).toEqual([
    {
      at: 2000,
      generation: 2,
      changes: ['api/all: token bucket 10/min → token bucket 12/min'],
    },
  ])
})

it('keeps the last fifty, and none that changed nothing', () => {
  let inForce = { generation: 1, policies: [policy('1/min')] }
  const history = new ReloadHistory(() => inForce)
  for (let i = 2; i <= 100; i++) {
    inForce = { generation: i, policies: [policy(`${Math.ceil(i / 2) + 1}/min`)] }
    history.look(i)
  }
  expect(history.list).toHaveLength(50)
  expect(history.list.at(-1)).toMatchObject({ at: 99, generation: 99 })
})
