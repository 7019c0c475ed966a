// Budgets and slots over HTTP, through real sockets.
import { describe, expect, it } from 'vitest'
import { running } from '../../test/running.ts'

const policies = [
  {
    name: 'llm',
    rules: [
      { name: 'tokens', by: ['team'], limit: '1000/h', hold: '60s' },
      { name: 'at-once', by: ['team'], concurrency: 2, hold: '30s' },
    ],
  },
  { name: 'plain', rules: [{ name: 'per-key', by: ['key'], limit: '5/h' }] },
]
/** The id of a reservation that nobody made. */
const ID = `nobody.${btoa(JSON.stringify(['llm', { team: 'a' }, 5, 0, 0])).replaceAll('=', '')}`
const team = { policy: 'llm', attributes: { team: 'a' } }

describe('budgets over HTTP', () => {
  it('reserve, extend and settle, once', async () => {
    const { post } = await running({ policies })
    const { body: made } = await post('/v1/reserve', { ...team, estimate: 400 })
    expect(made).toMatchObject({ allowed: true, units: 400, decision: { allowed: true } })
    const { id } = made as unknown as { id: string }
    expect((await post('/v1/extend', { id })).body).toMatchObject({ status: 'settled', charged: 0 })
    const settle = () => post('/v1/settle', { id, actual: 150 })
    expect((await settle()).body).toMatchObject({ status: 'settled', charged: 150 })
    expect((await settle()).body).toMatchObject({ status: 'repeated', charged: 150 })
    expect((await post('/v1/peek', team)).body).toMatchObject({
      outcomes: [
        { rule: 'tokens', remaining: 850 },
        { rule: 'at-once', remaining: 2 },
      ],
    })
  })

  it('enter and leave', async () => {
    const { post } = await running({ policies })
    const enter = async () => (await post('/v1/enter', team)).body as unknown as Slot
    const slots = [await enter(), await enter(), await enter()]
    expect(slots.map(({ allowed }) => allowed)).toEqual([true, true, false])
    expect((await post('/v1/leave', { id: slots[0]!.id })).status).toBe(200)
    expect(await enter()).toMatchObject({ allowed: true })
  })

  it.each<[string, object, number, string]>([
    ['/v1/settle', { id: 'none', actual: 1 }, 404, 'id'],
    ['/v1/settle', { actual: 1 }, 400, 'id'],
    ['/v1/settle', { id: 'x.y', actual: 'much' }, 404, 'id'],
    ['/v1/reserve', { ...team, estimate: 1.5 }, 400, 'estimate'],
    ['/v1/reserve', { ...team, estimate: -1 }, 400, 'estimate'],
    ['/v1/reserve', { ...team, estimate: 2 ** 53 }, 400, 'estimate'],
    ['/v1/enter', { ...team, cost: 0.5 }, 400, 'cost'],
    ['/v1/settle', { id: ID, actual: -1 }, 400, 'actual'],
    ['/v1/settle', { id: ID, actual: 1.5 }, 400, 'actual'],
    ['/v1/settle', { id: ID, actual: 2 ** 53 }, 400, 'actual'],
    ['/v1/settle', { id: ID, actual: { input: -1 } }, 400, 'actual'],
    ['/v1/settle', { id: ID, actual: { inputs: 1 } }, 400, 'actual'],
    ['/v1/settle', { id: ID, actual: 1 }, 404, 'id'],
    ['/v1/extend', { id: ID }, 404, 'id'],
    ['/v1/cancel', { id: ID }, 404, 'id'],
    ['/v1/reserve', { ...team, estimate: '5' }, 400, 'estimate'],
    ['/v1/reserve', { ...team, cost: 5 }, 400, 'cost'],
    ['/v1/reserve', { policy: 'plain', key: 'a' }, 400, 'policy'],
    ['/v1/reserve', { policy: 'llm' }, 400, 'attributes'],
  ])('%s says what is wrong with %j', async (path, body, status, field) => {
    const { post } = await running({ policies })
    expect(await post(path, body)).toMatchObject({ status, body: { field } })
  })
})

interface Slot {
  readonly allowed: boolean
  readonly id: string
}
