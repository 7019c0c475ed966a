// Bytes of strangers, from both sides: nothing crashes the proxy, stays open at the upstream, or goes round a limit.
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../../../../test/servers/until.ts'
import { behind, raw } from './behind.ts'

/** Sends bytes, leaves after a moment, and gives what came back. */
function visit(port: number, bytes: string, stay: number): Promise<string> {
  const { socket, closed } = raw(port, bytes)
  setTimeout(() => socket.destroy(), stay)
  return closed
}

const words = (text: string) => fc.constantFrom(...text.split(' '))
const token = words(
  'Host Connection Content-Length Transfer-Encoding Upgrade Expect TE Trailer X-Forwarded-For Forwarded Keep-Alive X Via',
)
const value = fc.oneof(
  fc.constantFrom(
    '',
    '0',
    '1',
    '3',
    '-1',
    'chunked',
    'close',
    'keep-alive',
    'Upgrade',
    'websocket',
  ),
  fc.constantFrom(
    'h2c',
    'host',
    '100-continue',
    'trailers',
    'x, y',
    'a\tb',
    '\xff',
    'content-length',
  ),
  fc.string({ maxLength: 12 }),
)
const field = fc.tuple(token, value).map(([name, value]) => `${name}: ${value}\r\n`)
const target = fc.oneof(
  fc.constantFrom('/', '*', '//a', '/%', '/a?b#c', 'http://h/p', 'http://', '/\\', '/../../x', 'x'),
  fc.webPath(),
)
const method = fc.constantFrom(
  'GET',
  'POST',
  'HEAD',
  'OPTIONS',
  'DELETE',
  'CONNECT',
  'PATCH',
  'get',
)
const body = fc.constantFrom('', 'abc', '3\r\nabc\r\n0\r\n\r\n', '0\r\n\r\n', '3\r\nab', 'zz\r\n')
const message = fc
  .tuple(method, target, fc.array(field, { maxLength: 6 }), fc.boolean(), body)
  .map(
    ([method, target, fields, named, body]) =>
      `${method} ${target} HTTP/1.1\r\n${named ? 'Host: x\r\n' : ''}${fields.join('')}\r\n${body}`,
  )

test('requests of any kind, in any number, cut off anywhere', async () => {
  const seen: string[] = []
  const { port, proxy, figure, logged } = await behind(
    (request, response) => {
      seen.push(request.url ?? '')
      request.resume()
      request.on('end', () => response.end('ok'))
    },
    { timeout: 1000 },
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(message, { minLength: 1, maxLength: 4 }),
      fc.nat({ max: 400 }),
      fc.constantFrom(5, 30),
      async (messages, cut, stay) => {
        const bytes = messages.join('')
        const answer = await visit(port, cut > 200 ? bytes : bytes.slice(0, cut), stay)
        expect(answer === '' || answer.startsWith('HTTP/1.1 ')).toBe(true)
      },
    ),
    { numRuns: 400 },
  )
  await until(
    'nothing is left',
    5000,
    async () => (await figure('sluice_proxy_upstream_requests')) === 0,
  )
  expect((await fetch(proxy)).status).toBe(200)
  expect(seen.every((url) => url === '*' || url.startsWith('/'))).toBe(true)
  expect(seen.some((url) => url.includes('#') || url.includes('\\'))).toBe(false)
  expect(logged().filter(({ level }) => level === 'error')).toEqual([])
})

test('answers of any kind, cut off anywhere', async () => {
  let bytes = Buffer.alloc(0)
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => socket.end(bytes))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    sockets.forEach((socket) => socket.destroy())
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { port, figure, logged } = await behind(url, { timeout: 1000 })
  const start = fc
    .tuple(words('HTTP/1.1 HTTP/1.0 HTTP/9.9'), words('200 204 304 100 101 103 099 999 OK'))
    .map(([version, status]) => `${version} ${status} \xff`)
  const hints = fc.constantFrom('', 'Link: </a>; rel=x\r\n', 'Link: nonsense\r\n')
  const answer = fc
    .tuple(start, fc.array(field, { maxLength: 5 }), hints, body)
    .map(([start, fields, hints, body]) => `${start}\r\n${hints}${fields.join('')}\r\n${body}`)
  const request = fc.constantFrom(
    'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
    'HEAD / HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc',
    'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nA: b\r\n\r\n',
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(answer, { minLength: 1, maxLength: 3 }),
      request,
      fc.nat({ max: 200 }),
      async (answers, request, cut) => {
        bytes = Buffer.from(answers.join(''), 'latin1')
        if (cut < 100) bytes = bytes.subarray(0, cut)
        const got = await visit(port, request, 40)
        expect(got === '' || got.startsWith('HTTP/1.1 ')).toBe(true)
      },
    ),
    { numRuns: 300 },
  )
  await until(
    'nothing is left',
    5000,
    async () => (await figure('sluice_proxy_upstream_requests')) === 0,
  )
  expect(logged().filter(({ level }) => level === 'error')).toEqual([])
})

test('no order of requests gets past the limit', async () => {
  let heard = 0
  const { port } = await behind(
    (request, response) => {
      heard++
      request.resume()
      response.end('ok')
    },
    {},
    { policies: [{ name: 'a', rules: [{ name: 'a', by: [], limit: '50/h' }] }] },
  )
  const inner = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n'
  const forms = [
    'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET http://y/ HTTP/1.1\r\nHost: x\r\n\r\n',
    `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
    'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc',
  ]
  // Only the first of a connection: behind others it would cut them off.
  const wish = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'
  const all = Array.from({ length: 40 }, (_, i) => {
    const turned = [...forms.slice(i % 5), ...forms.slice(0, i % 5)]
    return visit(port, [...(i % 2 === 0 ? [wish] : []), ...turned].join(''), 3000)
  })
  const answers = (await Promise.all(all)).join('')
  expect(heard).toBe(50)
  expect(answers.match(/HTTP\/1\.1 200 /g)).toHaveLength(50)
  expect(answers).not.toContain('smuggled')
})
