// Proves the fault proxy: each fault happens, in its direction alone, and ends when it is taken back.
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { until } from '../servers/until.ts'
import { startProxy } from './fault-proxy.ts'

/** An echo behind a proxy. */
async function echo(random?: () => number) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('data', (bytes) => {
      heard.push(bytes.toString())
      socket.write(bytes)
    })
    socket.on('error', () => {})
  })
  const heard: string[] = []
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const proxy = await startProxy({ host: '127.0.0.1', port }, random)
  onTestFinished(async () => {
    await proxy.stop()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { proxy, heard }
}

/** A client that remembers what came, and how it ended. */
async function dial(port: number) {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  onTestFinished(() => void socket.destroy())
  const pieces: { text: string; at: number }[] = []
  let ended: string | undefined
  socket.on('data', (bytes) => pieces.push({ text: bytes.toString(), at: performance.now() }))
  socket.on('error', (error: NodeJS.ErrnoException) => (ended = error.code))
  socket.on('close', () => (ended ??= 'closed'))
  await once(socket, 'connect')
  return {
    socket,
    pieces,
    text: () => pieces.map((piece) => piece.text).join(''),
    ended: () => ended,
    /** Resolves when that much has come. */
    async has(length: number) {
      await until('the echo', 5000, async () => this.text().length >= length)
    },
  }
}

const pause = (ms: number) => new Promise((resolve) => void setTimeout(resolve, ms))

describe('the proxy', () => {
  test('without faults passes all bytes in order', async () => {
    const { proxy } = await echo()
    const client = await dial(proxy.port)
    const text = Array.from({ length: 20_000 }, (_, i) => `${i} `).join('')
    client.socket.write(text)
    await client.has(text.length)
    expect(client.text()).toBe(text)
    expect([proxy.open, proxy.accepted.length]).toEqual([1, 1])
  })

  test.each([
    ['toServer', 79],
    ['toClient', 0],
  ] as const)(
    'delays bytes %s, and lets go of what waits when it is healed',
    async (way, least) => {
      const { proxy, heard } = await echo()
      const client = await dial(proxy.port)
      proxy.set({ [way]: { latency: 80 } })
      const start = performance.now()
      client.socket.write('first')
      await until('heard', 5000, async () => heard.length > 0)
      expect(performance.now() - start).toBeGreaterThan(least)
      await client.has(5)
      expect(performance.now() - start).toBeGreaterThan(79)
      proxy.set({ [way]: { latency: 60_000 } })
      client.socket.write('second')
      await pause(20)
      client.socket.write('third')
      await pause(20)
      expect(client.text()).toBe('first')
      proxy.set({})
      await client.has(16)
      expect(client.text()).toBe('firstsecondthird')
    },
  )

  test('stalls the share of chunks that was set', async () => {
    const { proxy } = await echo(() => 0.5)
    const client = await dial(proxy.port)
    for (const [share, least] of [
      [0.4, 0],
      [0.6, 79],
    ] as const) {
      proxy.set({ toClient: { stall: { share, delay: 80 } } })
      const before = client.text().length
      const start = performance.now()
      client.socket.write('x')
      await client.has(before + 1)
      const took = performance.now() - start
      expect(took).toBeGreaterThanOrEqual(least)
    }
  })

  test('holds bytes until it lets them go', async () => {
    const { proxy, heard } = await echo()
    const client = await dial(proxy.port)
    proxy.set({ toServer: { hold: true } })
    client.socket.write('wait')
    await pause(60)
    expect(heard).toEqual([])
    proxy.set({})
    await client.has(4)
    expect(heard).toEqual(['wait'])
  })

  test('writes in small pieces, and no faster than the bandwidth', async () => {
    const { proxy } = await echo()
    const client = await dial(proxy.port)
    proxy.set({ toClient: { piece: 3 } })
    client.socket.write('abcdefghij')
    await client.has(10)
    expect(client.text()).toBe('abcdefghij')
    expect(client.pieces.length).toBeGreaterThan(1)
    proxy.set({ toClient: { bandwidth: 1000 } })
    const start = performance.now()
    client.socket.write('x'.repeat(100))
    await client.has(110)
    expect(performance.now() - start).toBeGreaterThan(99)
  })

  test('drops bytes without a word', async () => {
    const { proxy, heard } = await echo()
    const client = await dial(proxy.port)
    proxy.set({ toClient: { drop: true } })
    client.socket.write('lost')
    await until('heard', 5000, async () => heard.length > 0)
    await pause(30)
    proxy.set({})
    client.socket.write('kept')
    await client.has(4)
    expect(client.text()).toBe('kept')
    expect(client.ended()).toBe(undefined)
  })

  test.each([
    ['cut', 'half'],
    ['lose', ''],
  ] as const)('%s: the reply comes as "%s", then a reset', async (how, left) => {
    const { proxy, heard } = await echo()
    const client = await dial(proxy.port)
    expect(proxy.breakReplies(how)).toBe(1)
    client.socket.write('halfhalf')
    await until('the end', 5000, async () => client.ended())
    expect(heard).toEqual(['halfhalf'])
    expect(client.text()).toBe(left)
    expect(client.ended()).toBe('ECONNRESET')
    const next = await dial(proxy.port)
    next.socket.write('ok')
    await next.has(2)
  })

  test('forsakes connections: silent, not closed, while new ones work', async () => {
    const { proxy, heard } = await echo()
    const client = await dial(proxy.port)
    proxy.forsake()
    client.socket.write('anybody?')
    const next = await dial(proxy.port)
    next.socket.write('yes')
    await next.has(3)
    expect([heard, client.text(), client.ended()]).toEqual([['yes'], '', undefined])
  })

  test('refuses, and accepts again at the same port', async () => {
    const { proxy } = await echo()
    const client = await dial(proxy.port)
    await proxy.refuse()
    await until('the end', 5000, async () => client.ended())
    expect(client.ended()).toBe('ECONNRESET')
    await expect(dial(proxy.port)).rejects.toThrow('ECONNREFUSED')
    await proxy.accept()
    const next = await dial(proxy.port)
    next.socket.write('again')
    await next.has(5)
    expect(proxy.accepted.length).toBe(2)
  })

  test('resets what is open', async () => {
    const { proxy } = await echo()
    const clients = [await dial(proxy.port), await dial(proxy.port)]
    proxy.reset()
    await until('the end', 5000, async () => clients.every((client) => client.ended()))
    expect(clients.map((client) => client.ended())).toEqual(['ECONNRESET', 'ECONNRESET'])
    expect(proxy.open).toBe(0)
  })
})
