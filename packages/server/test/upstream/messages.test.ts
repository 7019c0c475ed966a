// What the upstream and the client see of each other's messages: fields, bodies, interim answers, trailers.
import { request, type IncomingMessage, type RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { behind, generous, raw } from './behind.ts'

/** Answers with what the upstream got. */
const mirror: RequestListener = (request, response) => {
  void text(request).then((body) => {
    const { method, url, rawHeaders, rawTrailers } = request
    response.end(JSON.stringify({ method, url, rawHeaders, rawTrailers, body }))
  })
}

interface Mirrored {
  readonly method: string
  readonly url: string
  readonly rawHeaders: readonly string[]
  readonly rawTrailers: readonly string[]
  readonly body: string
}

/** Sends a head and a body as they are and gives what the upstream got. */
async function mirrored(port: number, bytes: string): Promise<Mirrored> {
  const { until, text } = raw(port, bytes)
  await until('"body"')
  const all = Buffer.from(text(), 'latin1').toString()
  return JSON.parse(all.slice(all.indexOf('{'), all.lastIndexOf('}') + 1)) as Mirrored
}

/** The fields as pairs, without Node's own. */
function pairs(list: readonly string[]): string[] {
  const out: string[] = []
  for (let i = 0; i < list.length; i += 2) out.push(`${list[i]}: ${list[i + 1]}`)
  return out
}

describe('a request', () => {
  it('goes on with its fields as they are, and those about this hop left out', async () => {
    const { port } = await behind(mirror)
    const got = await mirrored(
      port,
      [
        'GET /a%2Fb//c?d=%20 HTTP/1.1',
        'Host: shop.example',
        'Connection: keep-alive, X-Private, close',
        'X-Private: 1',
        'Keep-Alive: timeout=5',
        'TE: gzip',
        'Proxy-Authorization: Basic eDp5',
        'Proxy-Connection: keep-alive',
        'Proxy: http://evil.example',
        'HTTP2-Settings: AAAA',
        'cOOkie: a=1',
        'Cookie: b=2',
        'X-Odd: \xe9',
        '',
        '',
      ].join('\r\n'),
    )
    expect(got.url).toBe('/a%2Fb//c?d=%20')
    expect(pairs(got.rawHeaders)).toEqual([
      'Host: shop.example',
      'cOOkie: a=1',
      'Cookie: b=2',
      'X-Odd: é',
      'X-Forwarded-For: 127.0.0.1',
      'X-Forwarded-Proto: http',
      'X-Forwarded-Host: shop.example',
      'Connection: keep-alive',
    ])
  })

  const claims = [
    'X-Forwarded-For: 6.6.6.6',
    'X-Forwarded-Proto: https',
    'X-Forwarded-Host: evil.example',
    'X-Forwarded-Uri: /evil',
    'X_Forwarded_For: 6.6.6.6',
    'X-Real-IP: 6.6.6.6',
    'True-Client-IP: 6.6.6.6',
    'X-Original-URL: /evil',
    'X_Rewrite_URL: /evil',
    'Forwarded: for=6.6.6.6',
  ]
  const claiming = `GET / HTTP/1.1\r\nHost: shop.example\r\n${claims.join('\r\n')}\r\n\r\n`

  it('loses what a stranger says about the client or the path', async () => {
    const { port } = await behind(mirror)
    expect(pairs((await mirrored(port, claiming)).rawHeaders)).toEqual([
      'Host: shop.example',
      'X-Forwarded-For: 127.0.0.1',
      'X-Forwarded-Proto: http',
      'X-Forwarded-Host: shop.example',
      'Connection: keep-alive',
    ])
  })

  it('keeps what a trusted proxy says, continued', async () => {
    const { port } = await behind(mirror, {}, { ...generous, trustedProxies: ['127.0.0.0/8'] })
    expect(pairs((await mirrored(port, claiming)).rawHeaders)).toEqual([
      'Host: shop.example',
      'X-Forwarded-For: 6.6.6.6, 127.0.0.1',
      'X-Forwarded-Proto: https',
      'X-Forwarded-Host: evil.example',
      'X-Forwarded-Uri: /evil',
      'X_Forwarded_For: 6.6.6.6',
      'X-Real-IP: 6.6.6.6',
      'True-Client-IP: 6.6.6.6',
      'X-Original-URL: /evil',
      'X_Rewrite_URL: /evil',
      'Forwarded: for=6.6.6.6, for=127.0.0.1;proto=http',
      'Connection: keep-alive',
    ])
  })

  it('has the upstream’s own name, and Via, when the file says so', async () => {
    const { port, proxy } = await behind(mirror, { keepHost: false, via: true })
    const got = await mirrored(port, 'GET / HTTP/1.1\r\nHost: a\r\nVia: 1.0 b\r\n\r\n')
    expect(got.rawHeaders).toContain('1.0 b, 1.1 sluice')
    expect(got.rawHeaders[1]).toMatch(/^127\.0\.0\.1:\d+$/)
    expect(got.rawHeaders).toContain('a')
    expect((await fetch(proxy)).headers.get('via')).toBe('1.1 sluice')
  })

  it.each([
    ['with a length', 'POST', 'Content-Length: 3\r\n\r\nabc', 'abc', 'Content-Length: 3'],
    [
      'in chunks',
      'POST',
      'Transfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
      'abc',
      'Transfer-Encoding: chunked',
    ],
    ['with a GET', 'GET', 'Content-Length: 3\r\n\r\nabc', 'abc', 'Content-Length: 3'],
    [
      'in chunks with a DELETE',
      'DELETE',
      'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
      'abc',
      'Transfer-Encoding: chunked',
    ],
    ['that is empty', 'PUT', 'Content-Length: 0\r\n\r\n', '', 'Content-Length: 0'],
    ['that is not there', 'POST', '\r\n', '', 'Content-Length: 0'],
  ])('has its body %s', async (_, method, rest, body, framing) => {
    const { port } = await behind(mirror)
    const got = await mirrored(port, `${method} / HTTP/1.1\r\nHost: x\r\n${rest}`)
    expect([got.method, got.body]).toEqual([method, body])
    const framings = pairs(got.rawHeaders).filter((pair) => /^(content-l|transfer)/i.test(pair))
    expect(framings).toEqual([framing])
  })

  it('has no trailers that name another caller or another path', async () => {
    const { port } = await behind(
      mirror,
      {},
      { ...generous, proxy: { attributes: { apiKey: 'X-Api-Key' } } },
    )
    const names = [
      'X-Api-Key',
      'X_Api_Key',
      'X-Real-IP',
      'True-Client-IP',
      'X-Original-URL',
      'X_Rewrite_URL',
    ]
    const trailers = names.map((name) => `${name}: other\r\n`).join('')
    const head =
      'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n'
    const text = await raw(port, `${head}1\r\na\r\n0\r\n${trailers}Digest: 1\r\n\r\n`).closed
    expect(text).toContain('"rawTrailers":["Digest","1"]')
  })

  it('is refused when Connection names a field that says who the client is', async () => {
    const { port } = await behind(mirror)
    const fields = 'Host: x\r\nConnection: x-forwarded-for\r\nX-Forwarded-For: 198.51.100.1\r\n'
    expect(await raw(port, `GET / HTTP/1.1\r\n${fields}\r\n`).closed).toMatch(/^HTTP\/1\.1 400 /)
  })

  it('has its trailers, but for those that would change it', async () => {
    const { port } = await behind(mirror)
    const got = await mirrored(
      port,
      'POST / HTTP/1.1\r\nHost: x\r\nTrailer: Digest\r\nTE: trailers\r\nTransfer-Encoding: chunked\r\n\r\n' +
        '1\r\na\r\n0\r\nDigest: 1\r\nHost: y\r\nX-Forwarded-For: 6.6.6.6\r\nMore: 2\r\n\r\n',
    )
    expect(got.rawTrailers).toEqual(['Digest', '1', 'More', '2'])
    expect(pairs(got.rawHeaders)).toContain('TE: trailers')
  })

  it('may have its target in absolute form, whose server then counts', async () => {
    const { port } = await behind(mirror)
    const got = await mirrored(port, 'GET http://b.example?c HTTP/1.1\r\nHost: a.example\r\n\r\n')
    expect([got.url, got.rawHeaders[1]]).toEqual(['/?c', 'b.example'])
  })

  it('may be for the server as a whole', async () => {
    const { port } = await behind(mirror)
    expect((await mirrored(port, 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n')).url).toBe('*')
  })

  it('may be of HTTP/1.0', async () => {
    const { port } = await behind(mirror)
    const { closed } = raw(port, 'GET / HTTP/1.0\r\n\r\n')
    const answer = await closed
    expect(answer).not.toMatch(/transfer-encoding/i)
    expect(answer).toContain('"body":""')
  })

  it('that wants another protocol than WebSocket goes on without the wish', async () => {
    const { port } = await behind(mirror)
    const wish = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA\r\n'
    const body = 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'
    const got = await mirrored(port, `POST / HTTP/1.1\r\nHost: x\r\n${wish}${body}`)
    expect(got.body).toBe('abc')
    expect(got.rawHeaders.join().toLowerCase()).not.toMatch(/upgrade|http2|h2c/)
  })
})

describe('a body that waits to be asked for', () => {
  const head = 'POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n'

  it('is asked for when the upstream does', async () => {
    const { port, upstream } = await behind(mirror)
    let asked = 0
    upstream.on('checkContinue', (request, response) => {
      asked++
      setImmediate(() => {
        response.writeContinue()
        mirror(request as IncomingMessage, response as never)
      })
    })
    const { socket, until } = raw(port, head)
    await until('100 Continue')
    expect(asked).toBe(1)
    socket.write('abc')
    expect(await until('"body"')).toContain('"body":"abc"')
  })

  it('stays with the client when the upstream refuses', async () => {
    const { port, upstream } = await behind(mirror)
    upstream.on('checkContinue', (_, response) => response.writeHead(413).end('too large'))
    const { closed } = raw(port, head)
    const answer = await closed
    expect(answer).toMatch(/^HTTP\/1.1 413 /)
    expect(answer).toMatch(/connection: close/i)
  })

  it('stays with the client when the limit refuses', async () => {
    const none = { policies: [{ name: 'a', rules: [{ name: 'a', by: [], limit: '1/h' }] }] }
    const { port, proxy } = await behind(mirror, {}, none)
    await fetch(proxy)
    expect(await raw(port, head).until('violated')).toMatch(/^HTTP\/1.1 429 /)
  })
})

describe('a response', () => {
  it('comes with its fields as they are, and those about the other hop left out', async () => {
    const { port } = await behind((_, response) => {
      response.sendDate = false
      response.writeHead(
        299,
        'Fine Indeed',
        [
          ['Set-Cookie', 'a=1'],
          ['set-cookie', 'b=2'],
          ['Connection', 'X-Private'],
          ['X-Private', '1'],
          ['Proxy-Authenticate', 'Basic'],
          ['Keep-Alive', 'timeout=9'],
          ['Content-Length', '2'],
          ['X-Odd', '\xe9'],
        ].flat(),
      )
      response.end(Buffer.from('ok'))
    })
    const { until } = raw(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    const answer = await until('ok')
    expect(answer).toMatch(/^HTTP\/1.1 299 Fine Indeed\r\n/)
    expect(answer).toContain(
      'Set-Cookie: a=1\r\nset-cookie: b=2\r\nContent-Length: 2\r\nX-Odd: \xe9\r\n',
    )
    expect(answer).not.toMatch(/private|proxy|timeout=9/i)
  })

  it.each([
    ['HEAD', 200, { 'content-length': '1000' }],
    ['GET', 204, {}],
    ['GET', 304, { 'content-length': '1000', etag: '"a"' }],
  ])('has no body after %s and %i', async (method, status, headers) => {
    const { port } = await behind((_, response) => response.writeHead(status, headers).end())
    const { socket, until, closed } = raw(port, `${method} / HTTP/1.1\r\nHost: x\r\n\r\n`)
    await until('\r\n\r\n')
    socket.write(`${method} /again HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    const all = await closed
    const heads = all.split('\r\n\r\n').filter((part) => part !== '')
    expect(heads).toHaveLength(2)
    for (const head of heads) expect(head.startsWith(`HTTP/1.1 ${status}`)).toBe(true)
    for (const [name, value] of Object.entries(headers))
      expect(heads[0]).toContain(`${name}: ${value}`)
  })

  it('has its trailers', async () => {
    const { proxy } = await behind((_, response) => {
      response.writeHead(200, { trailer: 'digest' })
      response.write('a')
      response.addTrailers({ digest: '1', host: 'x', 'set-cookie': 'a=1' })
      response.end()
    })
    const answer = await new Promise<IncomingMessage>((resolve) =>
      request(proxy, { headers: { te: 'trailers' } }, resolve).end(),
    )
    expect(await text(answer)).toBe('a')
    expect([answer.headers['trailer'], answer.rawTrailers]).toEqual(['digest', ['digest', '1']])
  })

  it('is announced before it comes', async () => {
    const { port } = await behind((_, response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' })
      response.writeProcessing()
      response.end('done')
    })
    const answer = await raw(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n').until('done')
    expect(answer).toMatch(/^HTTP\/1.1 103 Early Hints\r\nLink: <\/a.css>; rel=preload\r\n/)
    expect(answer).toContain('HTTP/1.1 102 Processing')
    const old = await raw(port, 'GET / HTTP/1.0\r\nHost: x\r\n\r\n').until('done')
    expect(old).toMatch(/^HTTP\/1.1 200 /)
  })
})
