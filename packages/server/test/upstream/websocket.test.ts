// WebSockets through the reverse proxy: counted at the beginning, then bytes both ways until either side ends.
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { until } from '../../../../test/servers/until.ts'
import { behind, five, generous, isClosed, raw, upstreamOf } from './behind.ts'

const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='
const handshake = [
  'GET /chat HTTP/1.1',
  'Host: shop.example',
  'Connection: keep-alive, Upgrade',
  'Upgrade: WebSocket',
  `Sec-WebSocket-Key: ${KEY}`,
  'Sec-WebSocket-Version: 13',
  '',
  '',
].join('\r\n')

/** A server that agrees to every WebSocket and sends back what comes. */
async function echo(onSwitch: (request: IncomingMessage, socket: Duplex) => void = () => {}) {
  const server = await upstreamOf((_, response) => response.writeHead(426).end('only WebSockets'))
  server.on('upgrade', (request, socket, head) => {
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64')
    socket.on('error', () => {})
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\nhello`,
    )
    socket.write(head)
    socket.pipe(socket)
    onSwitch(request, socket)
  })
  return server
}

describe('a WebSocket', () => {
  it('goes through, with what either side sent early, and the reply says what is left', async () => {
    let seen: IncomingMessage | undefined
    const { port, figure } = await behind(await echo((request) => (seen = request)), {}, five)
    const { socket, until: untilText } = raw(port, `${handshake}early`)
    const answer = await untilText('helloearly')
    expect(answer).toMatch(/^HTTP\/1.1 101 Switching Protocols\r\n/)
    expect(answer).toContain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
    expect(answer).toMatch(/RateLimit: "five";r=4/)
    expect(answer.match(/upgrade: /gi)).toHaveLength(1)
    expect(seen!.headers).toMatchObject({
      host: 'shop.example',
      connection: 'Upgrade',
      upgrade: 'websocket',
      'x-forwarded-for': '127.0.0.1',
    })
    socket.write('more')
    await untilText('helloearlymore')
    expect(await figure('sluice_proxy_upstream_requests')).toBe(1)
    socket.destroy()
    await until(
      'it is over',
      2000,
      async () => (await figure('sluice_proxy_upstream_requests')) === 0,
    )
    expect(await figure('sluice_proxy_requests_total{result="forwarded"}')).toBe(1)
  })

  it('is refused over the limit, and the upstream hears nothing', async () => {
    let heard = 0
    const { port } = await behind(await echo(() => heard++), {}, five)
    for (let i = 0; i < 5; i++) await raw(port, handshake).until('hello')
    const answer = await raw(port, handshake).closed
    expect(answer).toMatch(/^HTTP\/1.1 429 /)
    expect(answer).toMatch(/Retry-After: \d+/)
    expect(answer).toContain('violated-policies')
    expect(heard).toBe(5)
  })

  it('that the upstream does not want gets the answer that it gives', async () => {
    const { port } = await behind((_, response) => response.writeHead(401).end('who are you'))
    const answer = await raw(port, handshake).closed
    expect(answer).toMatch(/^HTTP\/1.1 401 /)
    expect(answer).toContain('who are you')
  })

  it('to an upstream that is not there is 502', async () => {
    const { port } = await behind('http://127.0.0.1:1')
    expect(await raw(port, handshake).closed).toMatch(/^HTTP\/1.1 502 /)
  })

  it('to an upstream that switches to something else is 502', async () => {
    const server = await upstreamOf(() => {})
    server.on('upgrade', (_, socket) => {
      socket.end('HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n')
    })
    const { port } = await behind(server)
    expect(await raw(port, handshake).closed).toMatch(/^HTTP\/1.1 502 /)
  })

  it('ends for both when the upstream ends it', async () => {
    const { port } = await behind(await echo((_, socket) => setImmediate(() => socket.destroy())))
    expect(await raw(port, handshake).closed).toContain('hello')
  })

  it('ends when it is silent for too long', async () => {
    let ended = 0
    const server = await echo((_, socket) => socket.once('close', () => ended++))
    const silence = 1000
    const { port } = await behind(server, { tunnelTimeout: silence })
    const { socket, closed, until: untilText } = raw(port, handshake)
    await untilText('hello')
    const begun = performance.now()
    let last = begun
    // To and fro for longer than it may be silent.
    for (let i = 0; last - begun < 1.2 * silence; i++) {
      last = performance.now()
      socket.write(`<${i}>`)
      await untilText(`<${i}>`)
    }
    expect(ended).toBe(0)
    await closed
    expect(performance.now() - last).toBeGreaterThan(silence - 5)
    await until('the upstream sees it', 10_000, async () => ended === 1)
  })

  it('whose client leaves at any moment leaves nothing behind', async () => {
    const { port, figure } = await behind(await echo())
    for (let i = 0; i < 60; i++) {
      const { socket } = raw(port, handshake)
      await pause(i % 6)
      if (i % 2 === 0) socket.destroy()
      else socket.resetAndDestroy()
    }
    const open = () => figure('sluice_proxy_upstream_requests')
    await until('all are over', 5000, async () => (await open()) === 0)
    expect(await open()).toBe(0)
  })

  it('with a body is no WebSocket', async () => {
    const { port } = await behind(await echo())
    const bodied = handshake.replace('\r\n\r\n', '\r\nContent-Length: 3\r\n\r\nabc')
    expect(await raw(port, bodied).until('only')).toMatch(/^HTTP\/1.1 426 /)
  })

  it('behind a request that has no answer yet is cut off', async () => {
    const { port } = await behind(() => {})
    expect(await raw(port, `GET / HTTP/1.1\r\nHost: x\r\n\r\n${handshake}`).closed).toBe('')
  })

  it('takes as much as the slower side reads', async () => {
    const server = await upstreamOf(() => {})
    let sent = 0
    server.on('upgrade', (_, socket) => {
      socket.on('error', () => {})
      socket.write('HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n')
      const chunk = Buffer.alloc(65_536)
      const more = (): void => {
        while (sent < 2 ** 28 && socket.write(chunk)) sent += chunk.length
        socket.once('drain', more)
      }
      more()
    })
    const { port } = await behind(server)
    const { socket, until: untilText } = raw(port, handshake)
    await untilText('101')
    socket.pause()
    let before = -1
    await until('the upstream waits', 10_000, async () => {
      const isHeld = sent === before
      before = sent
      return isHeld
    })
    expect(sent).toBeLessThan(2 ** 25)
  })

  it('stays open while the service ends, until patience does', async () => {
    const patience = 2000
    const file = { ...generous, shutdown: { patience } }
    const { port, stop } = await behind(await echo(), {}, file)
    const { socket, until: untilText, closed } = raw(port, handshake)
    await untilText('hello')
    const start = performance.now()
    const stopping = stop()
    await until('the port is closed', patience, () => isClosed(port))
    socket.write('still here')
    await untilText('still here')
    await closed
    await stopping
    expect(performance.now() - start).toBeGreaterThan(patience - 50)
  })
})
