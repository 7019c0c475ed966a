// Speaks just enough of the Redis protocol (RESP2) for the tests to ask a server something without a client library.
import { connect } from 'node:net'

export type Reply = string | number | null | Reply[]

export interface Address {
  readonly host: string
  readonly port: number
}

/**
 * Sends the commands over a connection of their own and gives the reply to the last one. Rejects with the server's own
 * text when any of them is refused, and when there is no answer within the timeout (in ms).
 */
export function ask(address: Address, commands: string[][], timeout = 5000): Promise<Reply> {
  const asked = `${commands.at(-1)?.join(' ').slice(0, 100)} at ${address.host}:${address.port}`
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address.host, port: address.port, noDelay: true })
    const timer = setTimeout(() => settle(new Error(`no answer to ${asked}`)), timeout)
    let data = Buffer.alloc(0)

    function settle(result: Reply | Error) {
      clearTimeout(timer)
      socket.destroy()
      if (result instanceof Error) reject(result)
      else resolve(result)
    }

    socket.write(Buffer.concat(commands.map(encode)))
    socket.on('data', (chunk) => {
      data = Buffer.concat([data, chunk])
      const replies = parseAll(data)
      const refusal = replies.find((reply) => reply instanceof Error)
      if (refusal) settle(refusal)
      else if (replies.length === commands.length) settle(replies.at(-1) ?? null)
    })
    socket.on('error', settle)
    socket.on('close', () => settle(new Error(`the connection was closed: ${asked}`)))
  })
}

function encode(args: string[]): Buffer {
  const parts = args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`)
  return Buffer.from(`*${args.length}\r\n${parts.join('')}`)
}

interface Parsed {
  readonly reply: Reply | Error
  readonly end: number
}

/** The complete replies at the start of the data. */
function parseAll(data: Buffer): (Reply | Error)[] {
  const replies = []
  let parsed = parse(data, 0)
  while (parsed) {
    replies.push(parsed.reply)
    parsed = parse(data, parsed.end)
  }
  return replies
}

/** The reply that starts there, or undefined while it is incomplete. */
function parse(data: Buffer, start: number): Parsed | undefined {
  const lineEnd = data.indexOf('\r\n', start)
  if (lineEnd < 0) return undefined
  const type = String.fromCharCode(data[start] ?? 0)
  const line = data.toString('utf8', start + 1, lineEnd)
  const end = lineEnd + 2
  if (type === '+') return { reply: line, end }
  if (type === '-') return { reply: new Error(line), end }
  if (type === ':') return { reply: Number(line), end }
  if (type === '$') return parseBulk(data, end, Number(line))
  if (type === '*') return parseArray(data, end, Number(line))
  throw new Error(`not a RESP2 reply: ${type}${line}`)
}

function parseBulk(data: Buffer, start: number, length: number): Parsed | undefined {
  if (length < 0) return { reply: null, end: start }
  const end = start + length + 2
  return end > data.length
    ? undefined
    : { reply: data.toString('utf8', start, start + length), end }
}

function parseArray(data: Buffer, start: number, length: number): Parsed | undefined {
  if (length < 0) return { reply: null, end: start }
  const items: Reply[] = []
  let end = start
  for (let index = 0; index < length; index++) {
    const item = parse(data, end)
    if (!item) return undefined
    // An error inside an array (EXEC) is given as its text.
    items.push(item.reply instanceof Error ? item.reply.message : item.reply)
    end = item.end
  }
  return { reply: items, end }
}
