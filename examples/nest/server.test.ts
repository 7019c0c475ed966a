// Runs the example's application and calls it as its users do.
import type { INestApplication } from '@nestjs/common'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { start } from './server.js'

let app: INestApplication
let url: string

beforeEach(async () => {
  app = (await start(0)) as INestApplication
  url = await app.getUrl()
})

afterEach(() => app.close())

const statuses = async (method: string, ...paths: string[]): Promise<number[]> => {
  const made: number[] = []
  for (const path of paths) made.push((await fetch(url + path, { method })).status)
  return made
}

test('a report costs three, health nothing, and then all is spent', async () => {
  expect(await statuses('GET', '/report', '/health', '/orders', '/orders', '/report')).toEqual([
    200, 200, 200, 200, 429,
  ])
  const response = await fetch(`${url}/report`)
  expect(response.headers.get('retry-after')).toMatch(/^[56]$/)
  expect(await statuses('GET', '/health')).toEqual([200])
})

test('logins have a limit of their own', async () => {
  expect(await statuses('POST', '/login', '/login', '/login')).toEqual([201, 201, 429])
  expect(await statuses('GET', '/orders')).toEqual([200])
})
