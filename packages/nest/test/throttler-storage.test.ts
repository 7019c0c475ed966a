// The storage behind the guard of @nestjs/throttler, in a real application.
import 'reflect-metadata'
import type { AddressInfo } from 'node:net'
import { Controller, Get, type INestApplication } from '@nestjs/common'
import { APP_GUARD } from '@nestjs/core'
import { Test } from '@nestjs/testing'
import { Throttle, ThrottlerGuard, ThrottlerModule, type ThrottlerStorage } from '@nestjs/throttler'
import { memoryStore } from 'sluice'
import { fakeClock } from 'sluice/testing'
import { throttlerStorage } from '@sluice/nest'
import { afterEach, describe, expect, expectTypeOf, it } from 'vitest'
import { decorateClass, decorateMethod } from './decorate.ts'

const applications: INestApplication[] = []
afterEach(async () => {
  for (const application of applications.splice(0)) await application.close()
})

const clock = fakeClock(1_800_000_000_000)
const storage = (): ThrottlerStorage => throttlerStorage({ store: memoryStore({ clock }) })

async function start(): Promise<string> {
  class Orders {
    list(): string {
      return 'orders'
    }
    heavy(): string {
      return 'heavy'
    }
  }
  decorateClass(Orders, Controller('orders'))
  decorateMethod(Orders, 'list', Get())
  decorateMethod(Orders, 'heavy', Get('heavy'), Throttle({ default: { limit: 1, ttl: 60_000 } }))
  const made = await Test.createTestingModule({
    imports: [
      ThrottlerModule.forRoot({
        throttlers: [{ name: 'default', ttl: 60_000, limit: 3 }],
        storage: storage(),
      }),
    ],
    controllers: [Orders],
    providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
  }).compile()
  const app = made.createNestApplication({ logger: false, forceCloseConnections: true })
  await app.listen(0, '127.0.0.1')
  applications.push(app)
  return `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}/orders`
}

describe('the storage of @nestjs/throttler', () => {
  it('has the type that the module asks for', () => {
    expectTypeOf(throttlerStorage()).toExtend<ThrottlerStorage>()
  })

  it('counts for its guard, with its headers', async () => {
    const url = await start()
    const answers = []
    for (let i = 0; i < 4; i++) answers.push(await fetch(url))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429])
    expect(answers.map(({ headers }) => headers.get('x-ratelimit-remaining'))).toEqual([
      '2',
      '1',
      '0',
      null,
    ])
    expect(answers[3]!.headers.get('retry-after')).toBe('60')
  })

  it('keeps the limits of decorators apart', async () => {
    const url = await start()
    const statuses = []
    for (const path of ['/heavy', '/heavy', '']) statuses.push((await fetch(url + path)).status)
    expect(statuses).toEqual([200, 429, 200])
  })

  it('counts hits for as long as the ttl, from each of them on', async () => {
    const counts = storage()
    const hit = () => counts.increment('ann', 10_000, 2, 10_000, 'default')
    expect(await hit()).toEqual({
      totalHits: 1,
      timeToExpire: 10,
      isBlocked: false,
      timeToBlockExpire: 0,
    })
    clock.advance(4000)
    expect(await hit()).toMatchObject({ totalHits: 2, isBlocked: false })
    expect(await hit()).toMatchObject({ totalHits: 3, isBlocked: true, timeToBlockExpire: 6 })
    clock.advance(6000)
    expect(await hit()).toMatchObject({ totalHits: 2, isBlocked: false })
  })

  it('blocks a refused key for its blockDuration', async () => {
    const counts = storage()
    const hit = () => counts.increment('bob', 1000, 1, 30_000, 'default')
    await hit()
    expect(await hit()).toMatchObject({ isBlocked: true, timeToBlockExpire: 30 })
    clock.advance(29_000)
    expect(await hit()).toMatchObject({ isBlocked: true, timeToBlockExpire: 1 })
    clock.advance(1000)
    expect(await hit()).toMatchObject({ isBlocked: false })
  })

  it('keeps throttlers of different names apart', async () => {
    const counts = storage()
    await counts.increment('ann', 1000, 1, 1000, 'short')
    expect(await counts.increment('ann', 1000, 1, 1000, 'long')).toMatchObject({ isBlocked: false })
  })
})
