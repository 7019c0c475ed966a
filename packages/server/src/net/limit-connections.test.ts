import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createHttp2 } from 'node:http2'
import { connect, type AddressInfo, type Server, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../../../../test/servers/until.ts'
import { limitConnections } from './limit-connections.ts'

test.each<[string, () => Server, boolean]>([
  ['HTTP', () => createServer(), false],
  ['HTTP', () => createServer(), true],
  ['HTTP/2', () => createHttp2(), false],
  ['HTTP/2', () => createHttp2(), true],
])('%s takes so many and tells of the others', async (_, create, isWorker) => {
  const server = create()
  limitConnections(server, 2, isWorker)
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
  await until('there is room again', 5000, async () => {
    const next = open()
    await once(next, 'connect')
    return Promise.race([
      once(next, 'close').then(() => false),
      new Promise<boolean>((resolve) => setTimeout(resolve, 50, true)),
    ])
  })
})
