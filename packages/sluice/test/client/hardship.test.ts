// A polite and an adaptive fetch over real connections that are cut, hang, lead elsewhere or carry streams.
import type { RequestListener } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { adaptive } from '../../src/client/adaptive.ts'
import { polite, type Fetch } from '../../src/client/polite.ts'
import { remoteLimiter } from '../../src/client/remote-limiter.ts'
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
  it('a server that closes every connection loses no request', async () => {
    const url = await start((_, response) => response.setHeader('connection', 'close').end('ok'))
    const send = make()
    const answers = Array.from({ length: 100 }, async () => (await send(url)).text())
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['ok']))
  })

  it('what is refused behind a redirect is tried again', async () => {
    const paths: string[] = []
    const url = await start((request, response) => {
      paths.push(request.url ?? '')
      if (request.url === '/old') response.writeHead(307, { location: '/new' }).end()
      else response.writeHead(paths.length < 3 ? 429 : 200).end()
    })
    expect((await make()(`${url}/old`)).status).toBe(200)
    expect(paths).toEqual(['/old', '/new', '/old', '/new'])
  })

  it('a stream within a request arrives whole in every attempt', { timeout: 30_000 }, async () => {
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

  it('a connection that is cut is an error, and the next request passes', async () => {
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

  it('a server that hangs is left when the signal says so, and others go on', async () => {
    const url = await start((request, response) => {
      if (request.url !== '/hangs') response.end('ok')
    })
    const send = make()
    const hangs = send(`${url}/hangs`, { signal: AbortSignal.timeout(50) })
    const name = hangs.then(String, (error: Error) => error.name)
    expect(await (await send(url)).text()).toBe('ok')
    expect(await name).toBe('TimeoutError')
  })
})

it('thousands at once are all answered', { timeout: 60_000 }, async () => {
  const seen = new Set<string>()
  const server: Fetch = async (input) => {
    const isFirst = !seen.has(input as string)
    seen.add(input as string)
    return new Response(null, { status: isFirst ? 429 : 200 })
  }
  const send = polite(server, { base: 5, retryBudget: false })
  const answers = Array.from({ length: 10_000 }, (_, i) => send(`http://api.test/${i}`))
  expect(new Set((await Promise.all(answers)).map(({ status }) => status))).toEqual(new Set([200]))
})

describe('a remote limiter', () => {
  it('a service that cuts its answer short is out of reach, and asked again', async () => {
    let requests = 0
    const url = await start((request, response) => {
      requests += 1
      if (requests > 1) return void response.end('{"allowed":true}')
      response.writeHead(200, { 'content-length': '100' }).write('{"allo')
      setTimeout(() => request.socket.destroy(), 5)
    })
    const remote = remoteLimiter(url, { timeout: 5000 })
    await expect(remote.check('a')).rejects.toMatchObject({
      code: 'store-unreachable',
      transient: true,
    })
    expect((await remote.check('a')).allowed).toBe(true)
  })

  it('connections that the service closes while they are idle are not noticed', async () => {
    const url = await start((request, response) => {
      request.resume().on('end', () => response.end('{"allowed":true}'))
      request.socket.setTimeout(20, () => request.socket.end())
    })
    const remote = remoteLimiter(url, { timeout: 5000 })
    for (let i = 0; i < 5; i++) {
      expect((await remote.check('a')).allowed).toBe(true)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  })
})
