// `sluice playground`: serves the built page on loopback, until Ctrl+C.
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Mistake } from '../terminal/mistake.ts'
import { print, type Streams } from '../terminal/streams.ts'

/** The flags of the command. */
export interface PlaygroundFlags {
  readonly port?: string
}

const PAGE = new URL('../../playground/index.html', import.meta.url)
const DEFAULT_PORT = 8090

/** Serves until the signal; rejects with {@link Mistake} for a wrong port. */
export async function playgroundCommand(
  { port: given = String(DEFAULT_PORT) }: PlaygroundFlags,
  { stdout, signal }: Streams,
): Promise<number> {
  const port = Number(given)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Mistake(`--port is ${given}; accepted: a whole number from 0 to 65535`)
  const server = await servePlayground(port)
  const { port: bound } = server.address() as AddressInfo
  print(stdout, `The playground is at http://127.0.0.1:${bound}/ until Ctrl+C.`)
  if (!signal.aborted) await once(signal, 'abort')
  server.close()
  server.closeAllConnections()
  return 0
}

/** Listens on loopback; port 0 is any free port. */
export async function servePlayground(port: number): Promise<Server> {
  const page = await readFile(PAGE)
  const server = createServer((request, response) => answer(page, request, response))
  server.listen({ port, host: '127.0.0.1' })
  try {
    await once(server, 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE')
      throw new Mistake(`port ${port} is in use; choose another with --port`)
    throw error
  }
  return server
}

function answer(page: Buffer, { method, url, headers }: IncomingMessage, to: ServerResponse): void {
  to.setHeader('X-Content-Type-Options', 'nosniff')
  to.setHeader('Referrer-Policy', 'no-referrer')
  to.setHeader('Cross-Origin-Resource-Policy', 'same-origin')
  // A web page whose name points to this machine must not reach the listener.
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(headers.host ?? '')) return end(to, 421)
  if (method !== 'GET' && method !== 'HEAD') return end(to, 405)
  if (url?.split('?')[0] !== '/') return end(to, 404)
  to.setHeader('Content-Type', 'text/html; charset=utf-8')
  to.setHeader('Cache-Control', 'no-cache')
  to.setHeader('Content-Length', page.length)
  to.end(method === 'HEAD' ? undefined : page)
}

function end(to: ServerResponse, status: number): void {
  to.writeHead(status, { 'Content-Length': 0 }).end()
}
