// Clients of different makes hear the same answers.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from './client.ts'
import { grpcJsClient } from './grpc-js-client.ts'
import { startPython, type Python } from './python-client.ts'
import { rawClient } from './raw-client.ts'
import { SCENARIOS } from './scenarios.ts'
import { startTestServer, type TestServer } from './server.ts'

const open: (TestServer | Client)[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

let python: Python
beforeAll(() => void (python = startPython()))
afterAll(() => python.close())

const CLIENTS: Record<string, (server: TestServer) => Promise<Client>> = {
  'raw bytes': async ({ url }) => rawClient(url),
  'grpc-js': async ({ target }) => grpcJsClient(target),
  'the C core': async ({ target }) => python.client(target),
}

describe.each(Object.entries(CLIENTS))('by %s', (_, connect) => {
  test.each(Object.entries(SCENARIOS))('%s', async (_, steps) => {
    const server = await startTestServer()
    open.push(server)
    const client = await connect(server)
    open.push(client)
    for (const [i, { after = 0, ask, expect: expected }] of steps.entries()) {
      server.clock.advance(after)
      expect(await client.ask(ask), `step ${i + 1}`).toMatchObject(expected)
    }
  })
})
