// What goes wrong: upstreams that are away, slow or broken, clients that leave, and messages that are not what they seem.
import { once } from 'node:events'
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../../../test/servers/ports.ts'
import { until } from '../../../../test/servers/until.ts'
import { behind, five, generous, raw, upstreamOf, urlOf } from './behind.ts'

// On a machine that runs other tests meanwhile.
/** A server of raw bytes. */
async function bytesOf(onConnection: (socket: Socket) => void): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    onConnection(socket)
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    sockets.forEach((socket) => socket.destroy())
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server that answers every request with these bytes. */
const answering = (bytes: string, end: 'end' | 'resetAndDestroy' | 'on' = 'on') =>
  bytesOf((socket) => {
    socket.once('data', () => {
      socket.write(Buffer.from(bytes, 'latin1'))
      if (end === 'end') socket.end()
      if (end === 'resetAndDestroy') setTimeout(() => socket.resetAndDestroy(), 30)
    })
  })

const codeOf = async (response: Response) => ((await response.json()) as { code: string }).code

const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

describe('an upstream', () => {
  it('that is not there is 502, and the client may go on', async () => {
    const { proxy, figure } = await behind(`http://127.0.0.1:${await freePort()}`, {}, five)
    const response = await fetch(proxy)
    expect([response.status, response.headers.get('content-type')]).toEqual([
      502,
      'application/problem+json',
    ])
    expect(response.headers.get('ratelimit')).toMatch(/r=4/)
    expect(await response.json()).toMatchObject({ code: 'upstream-unreachable' })
    expect(await figure('sluice_proxy_requests_total{result="upstream-unreachable"}')).toBe(1)
  })

  it('whose name does not exist is 502', async () => {
    const { proxy } = await behind('http://no-such-host.invalid:80')
    expect((await fetch(proxy)).status).toBe(502)
  })

  it('that says nothing in time is 504, and is let go of', async () => {
    let closed = 0
    const silent = await bytesOf((socket) => {
      socket.resume()
      socket.once('close', () => closed++)
    })
    const { proxy } = await behind(silent, { timeout: 200 })
    const response = await fetch(proxy)
    expect([response.status, await codeOf(response)]).toEqual([504, 'upstream-timeout'])
    await until('it is let go', 2000, async () => closed === 1)
  })

  it('that cannot be connected to in time is 504', async () => {
    // Addresses of this network are nobody's, and packets to it get lost or are refused.
    const { proxy } = await behind('http://192.0.2.1:9', { connectTimeout: 200 })
    expect([502, 504]).toContain((await fetch(proxy)).status)
  })

  it.each([
    ['nothing', '', 'end', 'upstream-reset'],
    ['something else', 'SSH-2.0-x\r\n', 'end', 'upstream-invalid'],
    [
      'two lengths',
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      'end',
      'upstream-invalid',
    ],
    [
      'a length and chunks',
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'end',
      'upstream-invalid',
    ],
    [
      'a switch nobody asked for',
      'HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      'on',
      'upstream-invalid',
    ],
    ['endless fields', `HTTP/1.1 200 OK\r\nX: ${'y'.repeat(100_000)}`, 'on', 'upstream-invalid'],
    ['half a head', 'HTTP/1.1 200 OK\r\nX: ', 'end', 'upstream-reset'],
  ] as const)('that answers with %s is 502', async (_, bytes, end, code) => {
    const { proxy, logged } = await behind(await answering(bytes, end))
    const response = await fetch(proxy)
    expect([response.status, await codeOf(response)]).toEqual([502, code])
    expect(logged().filter(({ level }) => level === 'error')).toEqual([])
  })

  it.each([
    ['with a length', 'Content-Length: 1000\r\n\r\nabc'],
    ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'],
    ['without either', '\r\nabc'],
  ])('that breaks off a body %s cuts the client off too', async (_, rest) => {
    const bytes = `HTTP/1.1 200 OK\r\n${rest}`
    const { port, figure } = await behind(await answering(bytes, 'resetAndDestroy'))
    const { closed } = raw(port, get)
    const answer = await closed
    expect(answer).toContain('abc')
    expect(answer).not.toContain('0\r\n\r\n')
    expect(await figure('sluice_proxy_requests_total{result="upstream-cut"}')).toBe(1)
  })

  it('that stops in the midst of a body is given up', async () => {
    const { port } = await behind(
      await answering('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc'),
      {
        timeout: 200,
      },
    )
    expect(await raw(port, get).closed).toMatch(/abc$/)
  })

  it('that ends its body with the connection is heard to the end', async () => {
    const { proxy } = await behind(await answering('HTTP/1.0 200 OK\r\n\r\nabc', 'end'))
    expect(await (await fetch(proxy)).text()).toBe('abc')
  })

  it('that answers before it has the whole body is heard', async () => {
    const { port } = await behind((_, response) => response.writeHead(413).end('enough'))
    const { socket, until: untilText } = raw(
      port,
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000\r\n\r\n',
    )
    socket.write('x'.repeat(100_000))
    expect(await untilText('enough')).toMatch(/^HTTP\/1.1 413 /)
  })

  it('that has closed a kept connection is asked again, where that changes nothing', async () => {
    let connections = 0
    // Answers one request on each connection and closes it when the second comes.
    const closing = await bytesOf((socket) => {
      connections++
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
        socket.once('data', () => socket.resetAndDestroy())
      })
    })
    const { proxy, figure } = await behind(closing)
    expect(await (await fetch(proxy)).text()).toBe('ok')
    expect(await (await fetch(proxy)).text()).toBe('ok')
    expect(connections).toBe(2)
    expect(await (await fetch(proxy)).text()).toBe('ok')
    // This one came over a kept connection too, and may have changed something.
    expect((await fetch(proxy, { method: 'POST', body: 'x' })).status).toBe(502)
    expect(connections).toBe(3)
    expect(await figure('sluice_proxy_requests_total{result="forwarded"}')).toBe(3)
    expect(await figure('sluice_proxy_requests_total{result="upstream-reset"}')).toBe(1)
  })

  it('gets no more at once than the file allows', async () => {
    let release = (): void => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    const { proxy, figure } = await behind(
      (_, response) => void released.then(() => response.end()),
      {
        maxRequests: 2,
      },
    )
    const first = [fetch(proxy), fetch(proxy)]
    await until(
      'two are there',
      2000,
      async () => (await figure('sluice_proxy_upstream_requests')) === 2,
    )
    const third = await fetch(proxy)
    expect([third.status, third.headers.get('retry-after')]).toEqual([503, '1'])
    release()
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200])
    await until(
      'none are',
      2000,
      async () => (await figure('sluice_proxy_upstream_requests')) === 0,
    )
  })
})

describe('a client', () => {
  it.each(['before the answer', 'in the midst of its body', 'in the midst of the answer'])(
    'that goes away %s ends the request to the upstream',
    async (when) => {
      let ended = 0
      let begun = 0
      let received = ''
      const upstream = await upstreamOf((request, response) => {
        begun++
        request.setEncoding('utf8').on('data', (text: string) => (received += text))
        response.once('close', () => response.writableFinished || ended++)
        if (when.endsWith('answer') && when !== 'before the answer') response.write('x')
      })
      const { port, figure } = await behind(upstream)
      const head = when.includes('its body')
        ? 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc'
        : get
      const { socket, until: untilText } = raw(port, head)
      await until('it is there', 10_000, async () => begun === 1)
      if (when === 'in the midst of its body')
        await until('some of it is there', 10_000, async () => received === 'abc')
      if (when === 'in the midst of the answer') await untilText('\r\n\r\n')
      socket.destroy()
      await until('it is ended', 10_000, async () => ended === 1)
      expect(await figure('sluice_proxy_requests_total{result="abandoned"}')).toBe(1)
      expect(await figure('sluice_proxy_upstream_requests')).toBe(0)
    },
  )

  it('that sends several requests at once and disconnects leaves none behind', async () => {
    const { port, figure } = await behind((_, response) => void response)
    const open = () => figure('sluice_proxy_upstream_requests')
    const { socket } = raw(port, get.repeat(20))
    await until('they are there', 2000, async () => (await open()) === 20)
    socket.destroy()
    await until('they are gone', 2000, async () => (await open()) === 0)
    expect(await figure('sluice_proxy_requests_total{result="abandoned"}')).toBe(20)
  })

  it('that sends several requests at once gets the answers in their order', async () => {
    let answerFirst = (): void => {}
    const { port } = await behind((request, response) => {
      const answer = (): void => void response.end(`<${request.url}>`)
      // The first request is answered last.
      if (request.url === '/0') answerFirst = answer
      else answer()
      if (request.url === '/2') response.once('finish', () => answerFirst())
    })
    const requests = [0, 1, 2].map((i) => `GET /${i} HTTP/1.1\r\nHost: x\r\n\r\n`)
    const answer = await raw(port, requests.join('')).until('</2>')
    expect(answer.match(/<\/\d>/g)).toEqual(['</0>', '</1>', '</2>'])
  })

  it('whose body does not come gets an error and is cut off', async () => {
    const { port, figure } = await behind(
      (request, response) => {
        request.resume().once('end', () => response.end())
      },
      { timeout: 200 },
    )
    const { closed } = raw(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nabc')
    expect(await closed).toMatch(/^HTTP\/1.1 408 /)
    expect(await figure('sluice_proxy_requests_total{result="request-timeout"}')).toBe(1)
  })

  it('that does not read holds its upstream back, and is cut off', async () => {
    const chunk = Buffer.alloc(65_536)
    let sent = 0
    const { port, figure } = await behind(
      (_, response) => {
        const more = (): void => {
          while (sent < 2 ** 28 && response.write(chunk)) sent += chunk.length
          response.once('drain', more)
        }
        more()
      },
      { timeout: 500 },
    )
    const { socket } = raw(port, get)
    socket.pause()
    const gone = 'sluice_proxy_requests_total{result="abandoned"}'
    await until('it is cut', 10_000, async () => (await figure(gone)) === 1)
    expect(sent).toBeLessThan(2 ** 25)
  })

  it('that is refused while it sends hears why', async () => {
    const { port, proxy } = await behind(
      (_, response) => response.end(),
      {},
      { policies: [{ name: 'a', rules: [{ name: 'a', by: [], limit: '1/h' }] }] },
    )
    await fetch(proxy)
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\n'
    const { socket, closed } = raw(port, head)
    const flood = setInterval(() => socket.writable && socket.write(Buffer.alloc(50_000)), 1)
    expect(await closed).toMatch(/^HTTP\/1.1 429 /)
    clearInterval(flood)
  })
})

describe('a message of two meanings is refused and reaches no upstream', () => {
  const post = 'POST / HTTP/1.1\r\nHost: x\r\n'
  it.each([
    [
      'a length and chunks',
      `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    [
      'chunks and a length',
      `${post}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ['two lengths', `${post}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`, 400],
    ['the same length twice', `${post}Content-Length: 1\r\nContent-Length: 1\r\n\r\na`, 400],
    ['a list of lengths', `${post}Content-Length: 1, 1\r\n\r\na`, 400],
    ['a signed length', `${post}Content-Length: +1\r\n\r\na`, 400],
    ['two codings', `${post}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, 501],
    ['an unknown coding', `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`, 501],
    [
      'chunks twice',
      `${post}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    [
      'chunks in HTTP/1.0',
      'POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['a space before the colon', `${post}Content-Length : 1\r\n\r\na`, 400],
    ['a folded line', `${post}X: a\r\n b\r\nContent-Length: 0\r\n\r\n`, 400],
    ['a bare line feed', 'GET / HTTP/1.1\nHost: x\n\n', 400],
    [
      'a line feed in a chunk size',
      `${post}Transfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n`,
      400,
    ],
    ['two hosts', 'GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n', 400],
    ['no host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['a host with a path', 'GET / HTTP/1.1\r\nHost: x/y\r\n\r\n', 400],
    ['a host with a user', 'GET / HTTP/1.1\r\nHost: a@x\r\n\r\n', 400],
    ['a fragment', 'GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a backslash', 'GET /a\\..\\b HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a target that is no path', 'GET a HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a target of another scheme', 'GET file:///etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n', 405],
    [
      'a Connection that names the host',
      'GET / HTTP/1.1\r\nHost: x\r\nConnection: host\r\n\r\n',
      400,
    ],
  ])('%s', async (_, bytes, status) => {
    let heard = 0
    const { port } = await behind((_, response) => {
      heard++
      response.end()
    })
    const { closed } = raw(port, `${bytes}GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n`)
    const answer = await closed
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(answer.match(/HTTP\/1\.1 \d/g)).toHaveLength(1)
    // A body may be found wrong only after its head has gone on; then its request is ended, and nothing follows.
    expect(heard).toBeLessThanOrEqual(bytes.includes('1\na') ? 1 : 0)
  })
})

it('an upstream with a path is refused by the file', async () => {
  await expect(behind('http://127.0.0.1:1/path')).rejects.toThrow('without a path')
  await expect(
    behind(urlOf(await upstreamOf(() => {})), { policy: 'none' }, generous),
  ).rejects.toThrow('listeners.proxy.policy is "none"; accepted: api')
})

it.each([
  [
    'an answer',
    'HTTP/1.1 200 O\x01K\r\nContent-Length: 2\r\n\r\nok',
    'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
  ],
  [
    'a switch of protocols',
    'HTTP/1.1 101 Switching\x7f\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nok',
    'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  ],
])(
  'a control character in the reason phrase of %s does not reach the client',
  async (_, bytes, request) => {
    const url = await bytesOf((socket) => socket.once('data', () => socket.write(bytes)))
    const { port } = await behind(url)
    const { until, socket } = raw(port, request)
    const text = await until('ok')
    expect(text).toMatch(/^HTTP\/1\.1 (?:200|101) \r\n/)
    socket.destroy()
  },
)

it('repeated wishes for another protocol use one place of the port and leave no listeners', async () => {
  const warnings: Error[] = []
  const onWarning = (warning: Error): void => void warnings.push(warning)
  process.on('warning', onWarning)
  onTestFinished(() => void process.off('warning', onWarning))
  const { port, figure } = await behind((_, response) => response.end('ok'), { maxConnections: 4 })
  const { socket, text } = raw(port)
  for (let i = 1; i <= 30; i++) {
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n')
    await until('it is answered', 5000, async () => text().split('HTTP/1.1 200').length > i)
  }
  expect(await figure('sluice_proxy_connections')).toBe(1)
  expect(warnings).toEqual([])
})
