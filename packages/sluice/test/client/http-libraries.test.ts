// The hooks for undici, axios, ky and got, with the real libraries at a real server.
import { Readable } from 'node:stream'
import axios, { AxiosError } from 'axios'
import got, { HTTPError } from 'got'
import ky from 'ky'
import { Agent, request as undiciRequest } from 'undici'
import { afterEach, describe, expect, it } from 'vitest'
import { politeAxios } from '../../src/client/axios.ts'
import { politeGot } from '../../src/client/got.ts'
import { politeKy } from '../../src/client/ky.ts'
import type { PoliteOptions } from '../../src/client/polite-options.ts'
import { politeUndici } from '../../src/client/undici.ts'
import { fakeTimers } from '../../src/testing/fake-timers.ts'
import { scriptedServer, serve } from './limited-servers.ts'

interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT'
  readonly body?: string | Readable
  readonly signal?: AbortSignal
}
interface Reply {
  readonly status: number
  readonly text: string
}
type Send = (url: string, call: Call) => Promise<Reply>

/** Each library with our hook, adapted to one form in which a refusal is a reply, not an error. */
const libraries: Record<string, (options: PoliteOptions) => Send> = {
  undici: (options) => {
    const dispatcher = new Agent().compose(politeUndici(options))
    return async (url, { method = 'GET', body = null, signal }) => {
      const call = { dispatcher, method, body, ...(signal && { signal }) }
      const reply = await undiciRequest(url, call)
      return { status: reply.statusCode, text: await reply.body.text() }
    }
  },
  axios: (options) => {
    const adapter = politeAxios(axios.getAdapter(['http', 'xhr', 'fetch']), options)
    const client = axios.create({ adapter, responseType: 'text' })
    return async (url, { method = 'GET', body, signal }) => {
      const call = { url, method, data: body, ...(signal && { signal }) }
      try {
        const { status, data } = await client.request<string>(call)
        return { status, text: data }
      } catch (error) {
        if (!(error instanceof AxiosError) || error.response === undefined) throw error
        return { status: error.response.status, text: String(error.response.data) }
      }
    }
  },
  ky: (options) => {
    const client = ky.extend({ ...politeKy(options), throwHttpErrors: false })
    return async (url, { method = 'GET', body, signal }) => {
      const data = body instanceof Readable ? (Readable.toWeb(body) as ReadableStream) : body
      const reply = await client(url, {
        method,
        ...(data && { body: data }),
        ...(signal && { signal }),
      })
      return { status: reply.status, text: await reply.text() }
    }
  },
  got: (options) => {
    const client = got.extend(politeGot(options))
    return async (url, { method = 'GET', body, signal }) => {
      try {
        const reply = await client(url, {
          method,
          ...(body && { body }),
          ...(signal && { signal }),
        })
        return { status: reply.statusCode, text: reply.body }
      } catch (error) {
        if (!(error instanceof HTTPError)) throw error
        const { response } = error as { response: { statusCode: number; body: string } }
        return { status: response.statusCode, text: response.body }
      }
    }
  },
}

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})
async function start(replies: Parameters<typeof scriptedServer>[0]) {
  const server = await scriptedServer(replies)
  stops.push(() => server.stop())
  return server
}

describe.each(Object.entries(libraries))('%s', (name, make) => {
  // Got sets its own timers, so this wait runs in real time.
  const refusal = [429, { 'retry-after-ms': '50' }] as const

  it('retries, not before the hint, and reports each retry', async () => {
    const server = await start([refusal, [503], [200]])
    const events: number[] = []
    const send = make({ base: 20, onRetry: ({ status }) => events.push(status) })
    expect(await send(`${server.url}/a?b=1`, {})).toEqual({ status: 200, text: 'answer 3' })
    expect(server.received).toEqual(['GET /a?b=1', 'GET /a?b=1', 'GET /a?b=1'])
    expect(server.arrivals[1]! - server.arrivals[0]!).toBeGreaterThan(48)
    expect(events).toEqual([429, 503])
  })

  it('sends a string body again, but a POST only if `retry` allows it', async () => {
    const server = await start([[429], [200]])
    expect((await make({ base: 5 })(server.url, { method: 'PUT', body: 'units' })).status).toBe(200)
    expect(server.received).toEqual(['PUT / units', 'PUT / units'])
    const other = await start([[429], [200]])
    expect((await make({ base: 5 })(other.url, { method: 'POST', body: 'x' })).status).toBe(429)
    expect(other.received).toHaveLength(1)
    const allowed = await start([[429], [200]])
    const send = make({ base: 5, retry: () => true })
    expect((await send(allowed.url, { method: 'POST', body: 'x' })).status).toBe(200)
    expect(allowed.received).toEqual(['POST / x', 'POST / x'])
  })

  // Ky puts every body into a Request, of which each attempt gets a copy.
  const copies = name === 'ky'
  it(`${copies ? 'copies a stream for' : 'never sends a stream in'} a second attempt`, async () => {
    const server = await start([[429], [200]])
    const body = Readable.from(['once'])
    const send = make({ base: 5, retry: () => true })
    expect((await send(server.url, { method: 'PUT', body })).status).toBe(copies ? 200 : 429)
    expect(new Set(server.received)).toEqual(new Set(['PUT / once']))
    expect(server.received).toHaveLength(copies ? 2 : 1)
  })

  it('returns the last refusal, and refusals with a hint beyond its total time', async () => {
    const server = await start([[429]])
    const reply = await make({ base: 5, attempts: 3 })(server.url, {})
    expect(reply).toEqual({ status: 429, text: 'answer 3' })
    const far = await start([[429, { 'retry-after': '315360000' }]])
    expect(await make({})(far.url, {})).toEqual({ status: 429, text: 'answer 1' })
  })

  it('rejects at once after an abort', async () => {
    const server = await start([[429, { 'retry-after': '60' }]])
    const control = new AbortController()
    // In the next turn, when it waits.
    const answer = make({ onRetry: () => setImmediate(() => control.abort()) })
    await expect(answer(server.url, { signal: control.signal })).rejects.toThrow(/abort|cancel/i)
    expect(server.received).toHaveLength(1)
  })
})

describe('undici', () => {
  it('holds a request back after a hint in another response, and an abort ends that', async () => {
    const server = await start([[200, { ratelimit: '"a";r=0;t=30' }], [200]])
    const control = new AbortController()
    const onWait = (): void => void setImmediate(() => control.abort(new Error('no longer')))
    const send = libraries['undici']!({ onWait })
    await send(server.url, {})
    await expect(send(server.url, { signal: control.signal })).rejects.toThrow('no longer')
    expect(server.received).toHaveLength(1)
  })

  it('aborts a refusal that does not end, and retries', async () => {
    const timers = fakeTimers()
    let requests = 0
    const server = await serve((_, response) => {
      requests += 1
      if (requests > 1) return void response.end('fine')
      response.writeHead(429).write('no, and')
    })
    stops.push(() => server.stop())
    const reply = libraries['undici']!({ base: 1, timers })(server.url, {})
    await expect.poll(() => timers.pending).toBe(1)
    await timers.advance(999)
    expect(requests).toBe(1)
    // The abort arrives in a later turn, and sets the timer of the next attempt.
    await expect.poll(() => timers.advance(1).then(() => requests)).toBe(2)
    expect(await reply).toEqual({ status: 200, text: 'fine' })
  })

  it('rejects a second attempt that is aborted in the queue of its pool', async () => {
    const timers = fakeTimers()
    const server = await start([[429], [200]])
    const dispatcher = new Agent({ connections: 1, pipelining: 1 }).compose(
      politeUndici({ base: 1, timers }),
    )
    const control = new AbortController()
    const first = undiciRequest(server.url, { dispatcher, signal: control.signal })
    const outcome = first.then(
      () => 'answered',
      (error: Error) => error.message,
    )
    // The refusal has ended, and the second attempt waits for its timer.
    await expect.poll(() => [server.received.length, timers.pending]).toEqual([1, 1])
    const others = Array.from({ length: 5 }, () => undiciRequest(server.url, { dispatcher }))
    await timers.advance(1)
    control.abort(new Error('no longer'))
    expect(await outcome).toBe('no longer')
    for (const other of others)
      expect((await (await other).body.text()).startsWith('answer')).toBe(true)
  })
})
