import { once } from 'node:events'
import { createServer as createHttp, type ServerResponse } from 'node:http'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { until } from '../../../../test/servers/until.ts'
import { limitRequests, limitSending } from './client-limits.ts'

afterEach(() => vi.useRealTimers())

describe('pipelined requests', () => {
  const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

  /** Sends requests in one write, and lets `answer` end each response; what came back, and how many were handled. */
  async function pipeline(count: number, answer: (response: ServerResponse) => void) {
    let handled = 0
    const server = createHttp(
      limitRequests(
        (_, response) => {
          handled++
          answer(response)
        },
        { onRefused: () => {} },
      ),
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => server.close().closeAllConnections())
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    let text = ''
    socket.on('data', (data) => (text += data.toString()))
    socket.on('error', () => {})
    socket.write(REQUEST.repeat(count))
    return { socket, text: () => text, handled: () => handled }
  }

  test('are all answered when they are no more than 32', async () => {
    const { socket, text, handled } = await pipeline(31, (response) => response.end('ok'))
    await vi.waitFor(() => expect(text().match(/HTTP\/1\.1 200/g)).toHaveLength(31))
    expect(text()).not.toMatch(/connection: close/i)
    socket.write(REQUEST)
    await vi.waitFor(() => expect(text().match(/HTTP\/1\.1 200/g)).toHaveLength(32))
    expect(handled()).toBe(32)
  })

  test('beyond 32 are not handled, and the last answer closes the connection', async () => {
    const { socket, text, handled } = await pipeline(500, (response) => response.end('ok'))
    await once(socket, 'close')
    expect(text().match(/HTTP\/1\.1 200/g)).toHaveLength(32)
    expect(text().match(/connection: close/gi)).toHaveLength(1)
    expect(text().trimEnd()).toMatch(/connection: close[^]*ok$/i)
    expect(handled()).toBe(32)
  })

  test('by the thousand, with no answer to wait for, cut the connection', async () => {
    const { socket, text, handled } = await pipeline(10_000, () => {})
    await new Promise((resolve) => socket.on('close', resolve))
    expect(text()).toBe('')
    expect(handled()).toBe(32)
  })
})

describe('an answer that is not read', () => {
  /** A connection on which the server has written more than the client's system takes. */
  async function stalled(): Promise<{ client: Socket; server: Socket }> {
    const listener = createServer({ pauseOnConnect: false })
    listener.listen(0, '127.0.0.1')
    await once(listener, 'listening')
    const client = connect((listener.address() as AddressInfo).port, '127.0.0.1')
    client.on('error', () => {})
    const [server] = (await once(listener, 'connection')) as [Socket]
    server.on('error', () => {})
    for (let i = 0; i < 40; i++) server.write(Buffer.alloc(1_000_000))
    onTestFinished(() => {
      client.destroy()
      server.destroy()
      listener.close()
    })
    // Settled when nothing more goes into the systems' buffers.
    let before = -1
    await until('the buffers are full', 10_000, async () => {
      const isFull = server.writableLength === before
      before = server.writableLength
      return isFull
    })
    return { client, server }
  }

  test('cuts its connection after the time', async () => {
    const { server } = await stalled()
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    const stop = limitSending(new Set([server]), 30_000)
    vi.advanceTimersByTime(30_000)
    expect(server.destroyed).toBe(false)
    vi.advanceTimersByTime(2000)
    expect(server.destroyed).toBe(true)
    stop()
  })

  test('does not cut a client that reads slowly, or one that has read all', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    const slow = { bytesWritten: 100_000, writableLength: 100_000, destroy: vi.fn<() => void>() }
    const idle = { bytesWritten: 100_000, writableLength: 0, destroy: vi.fn<() => void>() }
    const stop = limitSending(new Set([slow, idle] as unknown as Socket[]), 30_000)
    for (let i = 0; i < 10; i++) {
      vi.advanceTimersByTime(29_000)
      slow.writableLength -= 100
    }
    expect(slow.destroy).not.toHaveBeenCalled()
    vi.advanceTimersByTime(32_000)
    expect(slow.destroy).toHaveBeenCalled()
    expect(idle.destroy).not.toHaveBeenCalled()
    stop()
  })
})
