// TLS on both sides of the reverse proxy: an upstream must prove who it is, and clients may use https.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, request, type Server } from 'node:https'
import type { IncomingMessage, RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { connect, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { authority, type Authority, type Pair } from '../../../../test/tls/authority.ts'
import { behind } from './behind.ts'

let ours: Authority
let own: Pair
beforeAll(() => {
  ours = authority()
  own = ours.issue('localhost')
})
afterAll(() => ours.close())

async function secureUpstream(pair: Pair, handler: RequestListener): Promise<Server> {
  const keys = { cert: readFileSync(pair.cert), key: readFileSync(pair.key) }
  const server = createServer(keys, handler)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return server
}
const portOf = (server: Server) => (server.address() as AddressInfo).port

describe('an upstream with https', () => {
  const names: (string | false | null)[] = []
  const hello: RequestListener = (request, response) => {
    names.push((request.socket as TLSSocket).servername)
    response.end('hello')
  }
  const statusOf = async (url: string, proxy: object) => {
    const { proxy: address } = await behind(url, proxy)
    const response = await fetch(address, { headers: { host: 'evil.example' } })
    const body = await response.text()
    return [response.status, response.ok ? body : (JSON.parse(body) as { code: string }).code]
  }

  it('is not believed without an authority that is known', async () => {
    const port = portOf(await secureUpstream(own, hello))
    expect(await statusOf(`https://localhost:${port}`, {})).toEqual([502, 'upstream-unreachable'])
  })

  it('is believed by an authority that the file names, or unseen when the file says so', async () => {
    const port = portOf(await secureUpstream(own, hello))
    const url = `https://localhost:${port}`
    expect(await statusOf(url, { upstreamCa: ours.ca })).toEqual([200, 'hello'])
    expect(await statusOf(url, { verifyUpstream: false })).toEqual([200, 'hello'])
    expect(new Set(names)).toEqual(new Set(['localhost']))
  })

  it('is believed by its address', async () => {
    const port = portOf(await secureUpstream(own, hello))
    expect(await statusOf(`https://127.0.0.1:${port}`, { upstreamCa: ours.ca })).toEqual([
      200,
      'hello',
    ])
  })

  it('is not believed under another name, whatever Host says', async () => {
    const port = portOf(await secureUpstream(ours.issue('evil.example'), hello))
    const url = `https://localhost:${port}`
    expect(await statusOf(url, { upstreamCa: ours.ca })).toEqual([502, 'upstream-unreachable'])
  })
})

describe('clients with https', () => {
  const mirror: RequestListener = (request, response) => {
    void text(request).then((body) => response.end(JSON.stringify([request.headers, body])))
  }
  const secure = () => behind(mirror, { tls: own })
  /** What comes back on a connection of its own for these bytes, until it holds a part. */
  const talk = (port: number, bytes: string, part: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', ca: readFileSync(ours.ca) })
      let all = ''
      socket.on('data', (data) => {
        all += data.toString()
        if (!all.includes(part)) return
        socket.destroy()
        resolve(all)
      })
      socket.on('error', reject)
      socket.on('close', () => reject(new Error(`closed: ${all}`)))
      socket.write(bytes)
    })

  it('are distinguished for the upstream', async () => {
    const { proxy } = await secure()
    expect(proxy).toMatch(/^https:/)
    const answer = await new Promise<IncomingMessage>((resolve) =>
      request(proxy, { ca: readFileSync(ours.ca), agent: false }, resolve).end(),
    )
    expect(answer.headers['ratelimit']).toBeDefined()
    expect(await text(answer)).toContain('"x-forwarded-proto":"https"')
  })

  it('may open WebSockets, and wishes for other protocols are dropped', async () => {
    const { port, upstream } = await secure()
    upstream.on('upgrade', (_, socket) => {
      socket.on('error', () => {})
      socket.write('HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n')
      socket.pipe(socket)
    })
    const wish = (protocol: string) =>
      `POST / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n`
    const websocket = `${wish('websocket').replace('POST', 'GET')}\r\nechoed`
    expect(await talk(port, websocket, 'echoed')).toMatch(/^HTTP\/1.1 101 /)
    const h2c = `${wish('h2c')}Content-Length: 4\r\n\r\nbody`
    expect(await talk(port, h2c, '"body"')).toMatch(/^HTTP\/1.1 200 /)
  })
})
