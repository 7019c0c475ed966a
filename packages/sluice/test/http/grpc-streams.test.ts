// Streams of gRPC in both directions: one call each, whatever goes over it.
import {
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  type ServerDuplexStream,
  type ServerReadableStream,
  type sendUnaryData,
  type StatusObject,
} from '@grpc/grpc-js'
import { afterEach, describe, expect, it } from 'vitest'
import { rateLimit } from '../../src/http/grpc.ts'
import type { AnyBudget, AnyLimiter } from '../../src/http/index.ts'
import { createBudget } from '../../src/budgets/create-budget.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import type { Attributes } from '../../src/policy/policy.ts'
import { detailsIn } from './grpc-service.ts'

const serialize = (text: string): Buffer => Buffer.from(text)
const deserialize = (bytes: Buffer): string => bytes.toString()
const codec = {
  requestSerialize: serialize,
  requestDeserialize: deserialize,
  responseSerialize: serialize,
  responseDeserialize: deserialize,
}
const METHODS = {
  gather: { path: '/shop.Orders/Gather', requestStream: true, responseStream: false, ...codec },
  talk: { path: '/shop.Orders/Talk', requestStream: true, responseStream: true, ...codec },
}

/** Metadata that a careless application sends with every answer. */
const SHARED = new Metadata()

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

interface Ended {
  readonly code: number
  readonly told: string[]
  /** The field in the metadata, or in the trailers. */
  readonly left: string
  readonly details: Record<string, unknown>
}

async function start(limiter: AnyLimiter | AnyBudget, after?: () => number) {
  const handled: string[] = []
  const options = { key: () => 'all', ...(after === undefined ? {} : { after }) }
  const server = new Server({ interceptors: [rateLimit(ServerInterceptingCall, limiter, options)] })
  server.addService(METHODS, {
    gather(call: ServerReadableStream<string, string>, done: sendUnaryData<string>) {
      const all: string[] = []
      handled.push('gather')
      const fail = (): void => done({ code: 5, metadata: SHARED })
      call
        .on('data', (text: string) => all.push(text))
        .on('end', () => (all.length === 0 ? fail() : done(null, all.join())))
    },
    talk(call: ServerDuplexStream<string, string>) {
      handled.push('talk')
      call.sendMetadata(SHARED)
      call.on('data', (text: string) => call.write(`re ${text}`)).on('end', () => call.end())
    },
  })
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    )
  })
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure())
  closing.push(
    () => client.close(),
    () => server.forceShutdown(),
  )
  /** Sends messages at once, and waits for the end. */
  const run = (
    name: keyof typeof METHODS,
    texts: readonly string[] = ['one', 'two', 'three'],
  ): Promise<Ended> =>
    new Promise((resolve) => {
      const told: string[] = []
      let sent = new Metadata()
      const ended = ({ code, metadata }: StatusObject): void => {
        const left = [sent, metadata].flatMap((one) => one.get('ratelimit')).join(' | ')
        resolve({ code, told, left, details: detailsIn(metadata) })
      }
      const { path } = METHODS[name]
      const stream =
        name === 'gather'
          ? client.makeClientStreamRequest(path, serialize, deserialize, (_, text?: string) => {
              if (text !== undefined) told.push(text)
            })
          : client
              .makeBidiStreamRequest(path, serialize, deserialize)
              .on('data', (text: string) => told.push(text))
      stream.on('metadata', (metadata: Metadata) => (sent = metadata))
      stream.on('error', () => undefined).on('status', ended)
      for (const text of texts) stream.write(text)
      stream.end()
    })
  /** Begins to talk, and leaves when the server has answered. */
  const leave = (): Promise<void> =>
    new Promise((resolve) => {
      const talk = client.makeBidiStreamRequest(METHODS.talk.path, serialize, deserialize)
      talk.on('error', () => resolve()).on('data', () => talk.cancel())
      talk.write('one')
    })
  return { run, leave, handled }
}

const EXPECTED = { gather: ['one,two,three'], talk: ['re one', 're two', 're three'] }

describe.each(['gather', 'talk'] as const)('a stream of %s', (name) => {
  it('counts once, and is refused with the wait before its handler sees a message', async () => {
    const limiter = createLimiter({ limit: '2/h' })
    const { run, handled } = await start(limiter)
    for (const left of [1, 0]) {
      expect(await run(name)).toMatchObject({ code: 0, told: EXPECTED[name] })
      expect(limiter.peek('all').remaining).toBe(left)
    }
    const { code, told, details } = await run(name)
    expect([code, told, handled.length]).toEqual([8, [], 2])
    expect(Object.keys(details)).toContain('google.rpc.RetryInfo')
  })

  it('loses no message while a limiter takes its time, or while it is held', async () => {
    const inner = createLimiter({ limit: '9/min' })
    const check = async (attributes: Attributes | string) => {
      for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
      return inner.check(attributes)
    }
    const slow = await start({ check, refund: async () => undefined } as AnyLimiter)
    expect(await slow.run(name)).toMatchObject({ code: 0, told: EXPECTED[name] })
    const limit = { algorithm: 'leaky-bucket', quota: 20, window: '1s', burst: 9 } as const
    const held = await start(createLimiter({ limit }))
    const all = await Promise.all([held.run(name), held.run(name), held.run(name)])
    expect(all).toMatchObject(all.map(() => ({ code: 0, told: EXPECTED[name] })))
  })

  it('is charged once when it ends', async () => {
    const limiter = createLimiter({ limit: '100/h' })
    let asked = 0
    const { run } = await start(limiter, () => (asked++, 5))
    await run(name)
    await expect.poll(() => limiter.peek('all').remaining).toBe(95)
    expect(asked).toBe(1)
  })
})

describe('a slot of a budget', () => {
  it('comes free when a call ends, and when its client leaves', async () => {
    const rules = [{ name: 'at-once', by: [], concurrency: 1, hold: '1day' as const }]
    const budget = createBudget({ policy: { name: 'calls', rules } })
    const { run, leave } = await start(budget)
    const isFree = (): boolean => {
      const slot = budget.enter({})
      slot.leave()
      return slot.allowed
    }
    for (let i = 0; i < 3; i++) {
      expect(await run('gather')).toMatchObject({ code: 0 })
      await expect.poll(isFree).toBe(true)
      await leave()
      await expect.poll(isFree).toBe(true)
    }
    const inside = budget.enter({})
    expect(await run('talk')).toMatchObject({ code: 8, told: [] })
    inside.leave()
    budget.close()
  })
})

describe('metadata that an application sends again and again', () => {
  it.each([
    ['before the messages', 'talk', ['one']],
    ['with an error', 'gather', []],
  ] as const)('trap: %s, the fields of all calls pile up in it', async (_, name, texts) => {
    const { run } = await start(createLimiter({ limit: '9/h' }))
    const told: string[] = []
    for (let i = 0; i < 3; i++) told.push((await run(name, texts)).left)
    expect(told).toEqual([8, 7, 6].map((left) => `"default";r=${left};t=400`))
    expect(SHARED.getMap()).toEqual({})
  })
})
