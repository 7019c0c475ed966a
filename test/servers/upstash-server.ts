// A server that speaks the REST protocol of Upstash over a real Redis: commands as JSON, results in base64.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from 'redis'
import type { Address } from './resp.ts'

export interface UpstashServer {
  readonly url: string
  readonly token: string
  /** The bodies of all requests. */
  readonly bodies: readonly string[]
  /** Lets Redis run the next request whose body contains that text, and drops the connection instead of answering. */
  dropNext(containing: string): void
  stop(): Promise<void>
}

const TOKEN = 'secret-token'

/** Starts a server in front of the Redis at that address. */
export async function startUpstash({ host, port }: Address): Promise<UpstashServer> {
  const redis = createClient({ socket: { host, port }, RESP: 2 })
  await redis.on('error', () => {}).connect()
  const bodies: string[] = []
  let dropped: string | undefined

  const run = async (command: readonly unknown[], encoding: unknown): Promise<object> => {
    try {
      const result: unknown = await redis.sendCommand(command.map(String))
      return { result: encoding === 'base64' ? encoded(result) : result }
    } catch (error) {
      return { error: (error as Error).message }
    }
  }

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    const reply = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    if (request.headers.authorization !== `Bearer ${TOKEN}`)
      return reply(401, { error: 'Unauthorized' })
    const text = await textOf(request)
    bodies.push(text)
    const isDropped = dropped !== undefined && text.includes(dropped)
    if (isDropped) dropped = undefined
    const body = JSON.parse(text) as unknown[]
    const encoding = request.headers['upstash-encoding']
    if (request.url === '/pipeline') {
      const commands = body as unknown[][]
      const answers = await Promise.all(commands.map((command) => run(command, encoding)))
      return isDropped ? request.socket.destroy() : reply(200, answers)
    }
    const answer = await run(body, encoding)
    if (isDropped) return request.socket.destroy()
    return reply('error' in answer ? 400 : 200, answer)
  }
  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: TOKEN,
    bodies,
    dropNext(containing) {
      dropped = containing
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      redis.destroy()
    },
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** Strings in base64, in lists too; numbers and nulls as they are. */
function encoded(result: unknown): unknown {
  if (Array.isArray(result)) return result.map(encoded)
  return typeof result === 'string' ? Buffer.from(result).toString('base64') : result
}
