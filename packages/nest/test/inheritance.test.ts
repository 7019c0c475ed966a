// Decorators on controllers, on methods, and on classes that others extend.
import 'reflect-metadata'
import type { AddressInfo } from 'node:net'
import {
  Controller,
  Get,
  Module,
  UseGuards,
  type INestApplication,
  type Type,
} from '@nestjs/common'
import { APP_GUARD } from '@nestjs/core'
import { Test } from '@nestjs/testing'
import { createLimiter } from 'sluice'
import { afterEach, describe, expect, it } from 'vitest'
import { Cost, RateLimit, rateLimit, SkipRateLimit } from '@sluice/nest'
import { decorateClass, decorateMethod } from './decorate.ts'

const applications: INestApplication[] = []

afterEach(async () => {
  for (const application of applications.splice(0)) await application.close()
})

async function serve(controllers: Type[], providers: object[] = []): Promise<string> {
  class App {}
  decorateClass(App, Module({ controllers, providers: providers as [] }))
  const made = await Test.createTestingModule({ imports: [App] }).compile()
  const app = made.createNestApplication({ logger: false, forceCloseConnections: true })
  await app.listen(0, '127.0.0.1')
  applications.push(app)
  return `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`
}

const named = (name: string, limit: '3/h' | '9/h') =>
  createLimiter({ policy: { name: 'a', rules: [{ name, by: ['ip'], limit }] } })

/** A class with the method, for another to extend or to be served. */
const base = () =>
  class Base {
    one(): string {
      return 'one'
    }
    two(): string {
      return 'two'
    }
  }

const told = async (url: string): Promise<[number, string | null]> => {
  const { status, headers } = await fetch(url)
  return [status, headers.get('ratelimit')?.replaceAll(/;t=\d+/g, '') ?? null]
}

describe('decorators of Nest', () => {
  it('a limit of the controller and one of the method count side by side, each once', async () => {
    const Orders = base()
    decorateClass(Orders, Controller('orders'), RateLimit(named('class', '9/h')))
    decorateMethod(Orders, 'one', Get('one'), RateLimit(named('method', '3/h')))
    decorateMethod(Orders, 'two', Get('two'))
    const url = await serve([Orders])
    expect(await told(`${url}/orders/one`)).toEqual([200, '"class";r=8, "method";r=2'])
    expect(await told(`${url}/orders/two`)).toEqual([200, '"class";r=7'])
  })

  it('what a class says holds for those that extend it, beside what they say', async () => {
    const Base = base()
    decorateClass(Base, RateLimit(named('base', '9/h')))
    decorateMethod(Base, 'one', Get('one'), Cost(2))
    decorateMethod(Base, 'two', Get('two'))
    class Plain extends Base {}
    decorateClass(Plain, Controller('plain'))
    class More extends Base {}
    decorateClass(More, Controller('more'), RateLimit(named('more', '3/h')))
    class Free extends Base {}
    decorateClass(Free, Controller('free'), SkipRateLimit())
    const url = await serve([Plain, More, Free])
    expect(await told(`${url}/plain/one`)).toEqual([200, '"base";r=7'])
    expect(await told(`${url}/more/two`)).toEqual([200, '"base";r=6, "more";r=2'])
    expect(await told(`${url}/free/one`)).toEqual([200, null])
  })

  it('a method that counts again in a class that does not, and one that is overridden', async () => {
    const Base = base()
    decorateMethod(Base, 'one', Get('one'), Cost(3))
    decorateMethod(Base, 'two', Get('two'), SkipRateLimit(false))
    class Orders extends Base {
      override one(): string {
        return 'other'
      }
    }
    decorateClass(Orders, Controller('orders'), SkipRateLimit())
    decorateMethod(Orders, 'one', Get('one'), SkipRateLimit(false))
    const guard = rateLimit(named('all', '9/h'))
    const url = await serve([Orders], [{ provide: APP_GUARD, useValue: guard }])
    expect(await told(`${url}/orders/two`)).toEqual([200, '"all";r=8'])
    // What the method that is overridden has cost is no longer said.
    expect(await told(`${url}/orders/one`)).toEqual([200, '"all";r=7'])
  })

  it('one guard that stands everywhere counts a request once', async () => {
    const guard = rateLimit(named('all', '9/h'))
    const Orders = base()
    decorateClass(Orders, Controller('orders'), UseGuards(guard))
    decorateMethod(Orders, 'one', Get('one'), UseGuards(guard))
    const url = await serve([Orders], [{ provide: APP_GUARD, useValue: guard }])
    expect(await told(`${url}/orders/one`)).toEqual([200, '"all";r=8'])
  })
})
