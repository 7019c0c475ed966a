// Politeness within real libraries, at a real server: undici, axios, ky and got.
import { Readable } from 'node:stream'
import axios, { AxiosError } from 'axios'
import got, { HTTPError } from 'got'
import ky from 'ky'
import { Agent, request as undiciRequest } from 'undici'
import { afterEach, describe, expect, it } from 'vitest'
import { politeAxios } from '../../src/client/axios.ts'
import { politeGot } from '../../src/client/got.ts'
import { politeKy } from '../../src/client/ky.ts'
import type { PoliteOptions } from '../../src/client/manners.ts'
import { politeUndici } from '../../src/client/undici.ts'
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

/** Each library with our hook, made to answer in one form: a refusal is a reply, not an error. */
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
  const refusal = [429, { 'retry-after': '1' }] as const

  it('tries again, not before the hint, and tells', async () => {
    const server = await start([refusal, [503], [200]])
    const events: number[] = []
    const send = make({ base: 20, onRetry: ({ status }) => events.push(status) })
    expect(await send(`${server.url}/a?b=1`, {})).toEqual({ status: 200, text: 'answer 3' })
    expect(server.received).toEqual(['GET /a?b=1', 'GET /a?b=1', 'GET /a?b=1'])
    expect(server.arrivals[1]! - server.arrivals[0]!).toBeGreaterThan(990)
    expect(events).toEqual([429, 503])
  })

  it('sends a text body again, and a POST only when told', async () => {
    const server = await start([[429], [200]])
    expect((await make({ base: 5 })(server.url, { method: 'PUT', body: 'units' })).status).toBe(200)
    expect(server.received).toEqual(['PUT / units', 'PUT / units'])
    const other = await start([[429], [200]])
    expect((await make({ base: 5 })(other.url, { method: 'POST', body: 'x' })).status).toBe(429)
    expect(other.received).toHaveLength(1)
    const told = await start([[429], [200]])
    const send = make({ base: 5, retry: () => true })
    expect((await send(told.url, { method: 'POST', body: 'x' })).status).toBe(200)
    expect(told.received).toEqual(['POST / x', 'POST / x'])
  })

  // Ky puts every body into a Request, of which each attempt gets a copy.
  const copies = name === 'ky'
  it(`a stream is ${copies ? 'copied for' : 'never sent in'} a second attempt`, async () => {
    const server = await start([[429], [200]])
    const body = Readable.from(['once'])
    const send = make({ base: 5, retry: () => true })
    expect((await send(server.url, { method: 'PUT', body })).status).toBe(copies ? 200 : 429)
    expect(new Set(server.received)).toEqual(new Set(['PUT / once']))
    expect(server.received).toHaveLength(copies ? 2 : 1)
  })

  it('hands over the last refusal, and hints beyond its patience', async () => {
    const server = await start([[429]])
    const reply = await make({ base: 5, attempts: 3 })(server.url, {})
    expect(reply).toEqual({ status: 429, text: 'answer 3' })
    const far = await start([[429, { 'retry-after': '315360000' }]])
    expect(await make({})(far.url, {})).toEqual({ status: 429, text: 'answer 1' })
  })

  it('gives up at once when it is aborted', async () => {
    const server = await start([[429, { 'retry-after': '60' }]])
    const control = new AbortController()
    const answer = make({ onRetry: () => setTimeout(() => control.abort(), 20) })
    const began = performance.now()
    await expect(answer(server.url, { signal: control.signal })).rejects.toThrow(/abort|cancel/i)
    expect(performance.now() - began).toBeLessThan(10_000)
    expect(server.received).toHaveLength(1)
  })
})

describe('undici', () => {
  it('holds a request back when another was told to wait, and lets it be aborted', async () => {
    const server = await start([[200, { ratelimit: '"a";r=0;t=30' }], [200]])
    const waits: number[] = []
    const send = libraries['undici']!({ onWait: ({ wait }) => waits.push(wait) })
    await send(server.url, {})
    const control = new AbortController()
    const held = send(server.url, { signal: control.signal })
    setTimeout(() => control.abort(new Error('no longer')), 20)
    await expect(held).rejects.toThrow('no longer')
    expect(waits).toHaveLength(1)
    expect(server.received).toHaveLength(1)
  })

  it('a refusal whose end does not come holds nothing up', async () => {
    let requests = 0
    const server = await serve((_, response) => {
      requests += 1
      if (requests > 1) return void response.end('fine')
      response.writeHead(429).write('no, and')
    })
    stops.push(() => server.stop())
    const send = libraries['undici']!({ base: 1 })
    expect(await send(server.url, {})).toEqual({ status: 200, text: 'fine' })
  })

  it('a second attempt that is aborted in the queue of its pool is given up once', async () => {
    const server = await start([[429], [200]])
    const dispatcher = new Agent({ connections: 1, pipelining: 1 }).compose(
      politeUndici({ base: 1 }),
    )
    const control = new AbortController()
    const first = undiciRequest(server.url, { dispatcher, signal: control.signal })
    const others = Array.from({ length: 5 }, () => undiciRequest(server.url, { dispatcher }))
    setTimeout(() => control.abort(new Error('no longer')), 5)
    await first.then(
      ({ body }) => body.dump(),
      (error: Error) => expect(error.message).toBe('no longer'),
    )
    for (const other of others)
      expect((await (await other).body.text()).startsWith('answer')).toBe(true)
  })
})
