// A real upstream with the reverse proxy in front of it, and raw connections to the proxy, for tests.
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { running, type Running } from '../running.ts'

/** A policy that refuses no request for long enough. */
export const generous = {
  policies: [{ name: 'api', rules: [{ name: 'all', by: ['ip'], limit: '1000000/h' }] }],
}

/** A policy of five requests. */
export const five = {
  policies: [{ name: 'api', rules: [{ name: 'five', by: ['ip'], limit: '5/h' }] }],
}

interface Behind extends Running {
  /** The address of the reverse proxy, and its port. */
  readonly proxy: string
  readonly port: number
  readonly upstream: Server
  /** One figure of `/metrics`, 0 when it is not there. */
  readonly figure: (series: string) => Promise<number>
}

/** Starts a server on a free port; it ends with the test. */
export async function upstreamOf(handler: RequestListener): Promise<Server> {
  const server = createServer(handler)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return server
}

/** The address of a server. */
export function urlOf(server: { address(): unknown }): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Starts the reverse proxy in front of a server, or of an address. */
export async function behind(
  target: RequestListener | Server | string,
  proxy: object = {},
  file: object = generous,
  options: Parameters<typeof running>[1] = {},
): Promise<Behind> {
  const upstream = typeof target === 'function' ? await upstreamOf(target) : target
  const url = typeof upstream === 'string' ? upstream : urlOf(upstream)
  const listeners = { proxy: { port: 0, upstream: url, ...proxy } }
  const service = await running({ ...file, listeners }, options)
  const own = service.listeners.find(({ name }) => name === 'proxy')!
  return {
    ...service,
    proxy: own.url,
    port: Number(new URL(own.url).port),
    upstream: upstream as Server,
    figure: async (series) => {
      const line = (await service.metrics()).split('\n').find((one) => one.startsWith(`${series} `))
      return Number(line?.slice(series.length + 1) ?? 0)
    },
  }
}

/** Whether a port no longer accepts connections. */
export function isClosed(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(false)
    })
    socket.on('error', () => resolve(true))
  })
}

/** A connection to a port, and everything that comes back on it as text. */
export interface Raw {
  readonly socket: Socket
  readonly text: () => string
  /** Resolves when the text holds this; rejects when the connection ends before. */
  readonly until: (part: string) => Promise<string>
  readonly closed: Promise<string>
}

/** Opens a connection and sends the bytes. */
export function raw(port: number, bytes = ''): Raw {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let text = ''
  let isClosed = false
  const waiting = new Set<() => void>()
  const look = (): void => waiting.forEach((one) => one())
  socket.on('error', () => {})
  socket.on('data', (data) => {
    text += data.toString('latin1')
    look()
  })
  socket.on('end', () => socket.end())
  const closed = new Promise<string>((resolve) => {
    socket.on('close', () => {
      isClosed = true
      look()
      resolve(text)
    })
  })
  onTestFinished(() => void socket.destroy())
  if (bytes !== '') socket.write(Buffer.from(bytes, 'latin1'))
  const until = (part: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const one = (): void => {
        if (text.includes(part)) resolve(text)
        else if (isClosed) reject(new Error(`closed without ${part}: ${text}`))
        else return
        waiting.delete(one)
      }
      waiting.add(one)
      one()
    })
  return { socket, text: () => text, until, closed }
}
