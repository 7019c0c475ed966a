// Runs the example's server and calls it as its users do.
import { Client, credentials, Metadata, type Server, type ServiceError } from '@grpc/grpc-js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { greeter } from './greeter.js'
import { start } from './server.js'

let server: Server
let client: Client

beforeAll(async () => {
  const started = await start(0)
  server = started.server
  client = new Client(`127.0.0.1:${started.port}`, credentials.createInsecure())
})

afterAll(() => {
  client.close()
  server.forceShutdown()
})

/** The answer, or the error. */
function greet(user?: string): Promise<string | ServiceError> {
  const { path, requestSerialize, responseDeserialize } = greeter.greet
  const metadata = new Metadata()
  if (user !== undefined) metadata.set('x-user', user)
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      'world',
      metadata,
      { deadline: Date.now() + 5000 },
      (error, value) => resolve(error ?? value ?? ''),
    )
  })
}

test.each([
  ['a user', 'ann', 5],
  ['nobody', undefined, 2],
])('%s is greeted up to the limit, then told when to come back', async (_, user, limit) => {
  for (let i = 0; i < limit; i++) expect(await greet(user)).toBe('Hello, world.')
  const error = (await greet(user)) as ServiceError
  expect(error).toMatchObject({ code: 8, details: expect.stringMatching(/^Try again in \d s\.$/) })
  expect(Number(error.metadata.get('grpc-retry-pushback-ms')[0])).toBeGreaterThan(0)
})
