import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createHttp2 } from 'node:http2'
import {
  connect,
  createServer as createPlain,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../../../../test/servers/until.ts'
import { limitConnections, networkOf } from './limit-connections.ts'

test.each<[string, () => Server, boolean]>([
  ['HTTP', () => createServer(), false],
  ['HTTP', () => createServer(), true],
  ['HTTP/2', () => createHttp2(), false],
  ['HTTP/2', () => createHttp2(), true],
])('%s takes so many and tells of the others', async (_, create, isWorker) => {
  const server = create()
  limitConnections(server, 2, { isWorker, perAddress: 2 })
  let dropped = 0
  server.on('drop', () => dropped++)
  server.on('sessionError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const opened: Socket[] = []
  onTestFinished(() => {
    for (const socket of opened) socket.destroy()
    server.close()
  })
  const open = (): Socket => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    opened.push(socket)
    return socket
  }
  const first = [open(), open()]
  await Promise.all(first.map((socket) => once(socket, 'connect')))
  const third = open()
  await once(third, 'close')
  await until('it is told', 5000, async () => dropped === 1)
  expect(first.map(({ destroyed }) => destroyed)).toEqual([false, false])
  first[0]!.destroy()
  await until('there is room again', 10_000, async () => {
    const answered = Promise.race([
      once(server, 'drop').then(() => false),
      once(server, 'connection').then(() => true),
    ])
    open()
    return answered
  })
})

test('a socket that is handed back to its server is counted once', async () => {
  // Without a protocol, whose own listeners on the socket are not at issue here.
  const server = createPlain()
  limitConnections(server, 2, { isWorker: true, perAddress: 2 })
  let dropped = 0
  server.on('drop', () => dropped++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [socket] = (await once(server, 'connection')) as [Socket]
  onTestFinished(() => {
    client.destroy()
    server.close()
  })
  const listeners = socket.listenerCount('close')
  for (let i = 0; i < 10; i++) server.emit('connection', socket)
  expect(dropped).toBe(0)
  expect(socket.listenerCount('close')).toBe(listeners)
})

test('one address does not get the connections that are kept for others', async () => {
  const server = createServer()
  limitConnections(server, 4, { perAddress: 2 })
  let dropped = 0
  server.on('drop', () => dropped++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const sockets = Array.from({ length: 3 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  const other = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' })
  onTestFinished(() => {
    for (const socket of [...sockets, other]) socket.destroy()
    server.close()
  })
  await until('one is dropped', 5000, async () => dropped === 1)
  await until('the other address is accepted', 5000, async () => !other.connecting)
  expect(dropped).toBe(1)
})

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8::6', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  [undefined, ''],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})
