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

  it('reserve and settle many in one request each, and say which of them are wrong', async () => {
    const { post } = await running({ policies })
    const subjects = ['b', 'c', 'd'].map((name) => ({ policy: 'llm', attributes: { team: name } }))
    const asked = [...subjects.map((one) => ({ ...one, estimate: 100 })), { ...team, estimate: -1 }]
    const { decisions } = (await post('/v1/reserve', { checks: asked })).body as unknown as Many
    expect(decisions).toMatchObject([
      ...subjects.map(() => ({ allowed: true, units: 100 })),
      { error: { status: 400, field: 'estimate' } },
    ])
    const settlements = decisions.slice(0, 3).map(({ id }, i) => ({ id, actual: 10 * i }))
    const checks = [...settlements, settlements[2], { id: 'none', actual: 1 }]
    expect((await post('/v1/settle', { checks })).body).toMatchObject({
      decisions: [
        { status: 'settled', charged: 0 },
        { status: 'settled', charged: 10 },
        { status: 'settled', charged: 20 },
        { status: 'repeated', charged: 20 },
        { error: { status: 404, code: 'unknown-reservation', field: 'id' } },
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

  it('says of slots that they are no rate', async () => {
    const { post } = await running({ policies })
    await post('/v1/enter', team)
    const { body } = await post('/v1/enter', team)
    expect(body).toMatchObject({
      decision: { rule: 'at-once', limit: { quota: 2, window: 30_000, slots: true } },
    })
  })

  it('no slot where the policy has none', async () => {
    const { post } = await running({
      policies: [
        { name: 'llm', rules: [{ name: 'tokens', by: [], limit: '1000/h', hold: '60s' }] },
      ],
    })
    expect(await post('/v1/enter', { attributes: {} })).toMatchObject({
      status: 400,
      body: {
        code: 'invalid-body',
        field: 'policy',
        detail: expect.stringContaining('no rule of the policy has concurrency') as string,
      },
    })
  })

  it('says at settle that no rule applied', async () => {
    const { post } = await running({ policies })
    const { body } = await post('/v1/reserve', { policy: 'llm', attributes: {}, estimate: 5 })
    const { id } = body as unknown as Slot
    expect(body).toMatchObject({ allowed: true, units: 0, endsAt: 0 })
    expect((await post('/v1/settle', { id, actual: 5 })).body).toMatchObject({
      status: 'no-rule',
      charged: 0,
    })
  })

  it('a check takes no slot, and is refused while all are taken', async () => {
    const { post } = await running({ policies })
    const enter = async () => (await post('/v1/enter', team)).body as unknown as Slot
    expect((await post('/v1/check', team)).body).toMatchObject({ allowed: true })
    const slots = [await enter(), await enter()]
    expect((await post('/v1/check', team)).body).toMatchObject({
      allowed: false,
      rule: 'at-once',
      outcomes: [
        { rule: 'tokens', remaining: 999 },
        { rule: 'at-once', remaining: 0 },
      ],
    })
    expect((await post('/v1/peek', team)).body).toMatchObject({ allowed: false, rule: 'at-once' })
    await post('/v1/leave', { id: slots[0]!.id })
    expect((await post('/v1/check', team)).body).toMatchObject({ allowed: true })
  })

  it('a check that finds all slots free is reported once for each rule', async () => {
    const { post, logged } = await running({ policies })
    for (let i = 0; i < 3; i++) await post('/v1/check', team)
    const warned = logged().filter(({ code }) => code === 'slots-not-taken')
    expect(warned).toMatchObject([{ level: 'warn', policy: 'llm' }])
    expect(String(warned[0]!['msg'])).toContain('/v1/enter and /v1/leave')
  })

  it('slots that are taken are not reported', async () => {
    const { post, logged } = await running({ policies })
    await post('/v1/enter', team)
    await post('/v1/check', team)
    expect(logged().filter(({ code }) => code === 'slots-not-taken')).toEqual([])
  })

  it('a proxy that asks takes no slot: it is refused while all are taken, and that is reported', async () => {
    const proxy = { attributes: { team: 'x-team' } }
    const { post, url, logged } = await running({ policies, proxy })
    const headers = { 'x-original-uri': '/', 'x-original-method': 'GET', 'x-team': 'a' }
    const ask = async () => (await fetch(`${url}/v1/auth/nginx?policy=llm`, { headers })).status
    expect(await ask()).toBe(204)
    for (let i = 0; i < 2; i++) await post('/v1/enter', team)
    expect(await ask()).not.toBe(204)
    expect(logged().filter(({ code }) => code === 'slots-not-taken')).toHaveLength(1)
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

interface Many {
  readonly decisions: readonly { readonly id: string }[]
}

interface Slot {
  readonly allowed: boolean
  readonly id: string
}
