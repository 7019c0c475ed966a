// A polite and an adaptive fetch over real connections that are cut, hang, redirect or carry streams.
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { adaptive } from '../../src/client/adaptive.ts'
import { polite, type Fetch } from '../../src/client/polite.ts'
import { remoteLimiter } from '../../src/client/remote-limiter.ts'
import { fakeTimers } from '../../src/testing/fake-timers.ts'
import { serve, type LimitedServer } from './limited-servers.ts'

const started: LimitedServer[] = []
afterEach(async () => {
  for (const server of started.splice(0)) await server.stop()
})
async function start(handler: RequestListener): Promise<string> {
  const server = await serve(handler)
  started.push(server)
  return server.url
}

const kinds: readonly [string, () => Fetch][] = [
  ['polite', () => polite(fetch, { base: 5 })],
  ['polite around adaptive', () => polite(adaptive(fetch, { start: '10000/s' }), { base: 5 })],
]

describe.each(kinds)('%s', (_, make) => {
  it('loses no request to a server that closes every connection', async () => {
    const url = await start((_, response) => response.setHeader('connection', 'close').end('ok'))
    const send = make()
    const answers = Array.from({ length: 100 }, async () => (await send(url)).text())
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['ok']))
  })

  it('retries a refusal behind a redirect', async () => {
    const paths: string[] = []
    const url = await start((request, response) => {
      paths.push(request.url ?? '')
      if (request.url === '/old') response.writeHead(307, { location: '/new' }).end()
      else response.writeHead(paths.length < 3 ? 429 : 200).end()
    })
    expect((await make()(`${url}/old`)).status).toBe(200)
    expect(paths).toEqual(['/old', '/new', '/old', '/new'])
  })

  it('sends the whole stream of a Request in every attempt', async () => {
    const bodies: number[] = []
    const url = await start((request, response) => {
      let size = 0
      request.on('data', (chunk: Uint8Array) => (size += chunk.length))
      request.on('end', () => {
        bodies.push(size)
        response.writeHead(bodies.length < 3 ? 503 : 200).end()
      })
    })
    let left = 20
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (left-- > 0) controller.enqueue(new Uint8Array(10_000))
        else controller.close()
      },
    })
    const init = { method: 'PUT', body, duplex: 'half' } as RequestInit
    expect((await make()(new Request(url, init))).status).toBe(200)
    expect(bodies).toEqual([200_000, 200_000, 200_000])
  })

  it('rejects if its connection is cut, and the next request passes', async () => {
    let requests = 0
    const url = await start((request, response) => {
      requests += 1
      if (requests === 1) request.socket.destroy()
      else response.end('ok')
    })
    const send = make()
    await expect(send(url)).rejects.toThrow('fetch failed')
    expect(await (await send(url)).text()).toBe('ok')
  })

  it('ends a hanging request at its abort, and others continue', async () => {
    const control = new AbortController()
    const url = await start((request, response) => {
      if (request.url === '/hangs') control.abort()
      else response.end('ok')
    })
    const send = make()
    const hangs = send(`${url}/hangs`, { signal: control.signal })
    const name = hangs.then(String, (error: Error) => error.name)
    expect(await (await send(url)).text()).toBe('ok')
    expect(await name).toBe('AbortError')
  })
})

it('polite answers thousands of calls at once', async () => {
  const timers = fakeTimers()
  const seen = new Set<string>()
  const server: Fetch = async (input) => {
    const isFirst = !seen.has(input as string)
    seen.add(input as string)
    return new Response(null, { status: isFirst ? 429 : 200 })
  }
  const send = polite(server, { base: 5, retryBudget: false, timers })
  const answers = Array.from({ length: 10_000 }, (_, i) => send(`http://api.test/${i}`))
  await timers.advance(5)
  expect(new Set((await Promise.all(answers)).map(({ status }) => status))).toEqual(new Set([200]))
})

describe('a remote limiter', () => {
  const decision = JSON.stringify({
    allowed: true,
    reason: 'no-rule',
    rule: null,
    limit: null,
    remaining: null,
    retryAfter: 0,
    resetAfter: 0,
    delay: 0,
    at: 0,
    degraded: false,
  })

  it('rejects with store-unreachable if the answer is cut short, and the next check passes', async () => {
    let requests = 0
    const url = await start((request, response) => {
      requests += 1
      if (requests > 1) return void response.end(decision)
      response.writeHead(200, { 'content-length': '100' })
      response.write('{"allo', () => request.socket.destroy())
    })
    const remote = remoteLimiter(url, { timers: fakeTimers() })
    await expect(remote.check('a')).rejects.toMatchObject({
      code: 'store-unreachable',
      transient: true,
    })
    expect((await remote.check('a')).allowed).toBe(true)
  })

  it('survives a service that closes idle connections', async () => {
    const sockets: Socket[] = []
    const url = await start((request, response) => {
      sockets.push(request.socket)
      request.resume().on('end', () => response.end(decision, () => request.socket.end()))
    })
    const remote = remoteLimiter(url, { timers: fakeTimers() })
    for (let i = 1; i <= 5; i++) {
      expect((await remote.check('a')).allowed).toBe(true)
      expect(sockets).toHaveLength(i)
      // Both sides have closed the connection.
      if (!sockets[i - 1]!.destroyed) await once(sockets[i - 1]!, 'close')
    }
  })
})
