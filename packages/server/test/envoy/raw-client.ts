// A client of the rate limit service from Envoy's public field numbers alone: bytes over node:http2, none of our code.
import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2'
import type { Client, Outcome, Question, Status } from './client.ts'

const PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'

/** What a call came to, on the wire. */
export interface RawReply {
  readonly headers: IncomingHttpHeaders
  readonly trailers: IncomingHttpHeaders
  readonly message: Buffer | undefined
  /** `grpc-status`, wherever it was; undefined when the stream was cut. */
  readonly status: number | undefined
}

/** Opens a connection. */
export function rawClient(url: string): Client & { session: ClientHttp2Session } {
  const session = connect(url)
  session.on('error', () => {})
  return {
    name: 'raw bytes over HTTP/2',
    session,
    async ask(question) {
      const reply = await call(session, PATH, framed(encode(question)), {})
      if (reply.status !== 0 || reply.message === undefined) return { status: reply.status ?? -1 }
      return { status: 0, ...decode(reply.message) }
    },
    close: async () => session.destroy(),
  }
}

/** Sends any bytes to any path. */
export function call(
  session: ClientHttp2Session,
  path: string,
  body: Buffer,
  headers: Record<string, string>,
): Promise<RawReply> {
  return new Promise((resolve) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    })
    let head: IncomingHttpHeaders = {}
    let trailers: IncomingHttpHeaders = {}
    const chunks: Buffer[] = []
    stream.on('response', (received) => (head = received))
    stream.on('trailers', (received) => (trailers = received))
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('error', () => {})
    stream.on('close', () => {
      const bytes = Buffer.concat(chunks)
      const status = trailers['grpc-status'] ?? head['grpc-status']
      resolve({
        headers: head,
        trailers,
        message: bytes.length >= 5 ? bytes.subarray(5) : undefined,
        status: status === undefined ? undefined : Number(status),
      })
    })
    stream.end(body)
  })
}

/** A message in its frame. */
export function framed(message: Buffer): Buffer {
  const header = Buffer.alloc(5)
  header.writeUInt32BE(message.length, 1)
  return Buffer.concat([header, message])
}

function varint(value: bigint): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return Buffer.from([...bytes, Number(rest)])
}

const number = (field: number, value: number | bigint): Buffer =>
  Buffer.concat([varint(BigInt(field * 8)), varint(BigInt(value))])
const bytes = (field: number, content: Buffer | string): Buffer => {
  const body = Buffer.from(content as string)
  return Buffer.concat([varint(BigInt(field * 8 + 2)), varint(BigInt(body.length)), body])
}

/** RateLimitRequest: domain 1, descriptors 2, hits_addend 3. */
export function encode({ domain, hits, descriptors }: Question): Buffer {
  const parts = descriptors.map(({ entries, limit, hits, negative }) => {
    const fields = entries.map(([key, value]) =>
      bytes(1, Buffer.concat([bytes(1, key), bytes(2, value)])),
    )
    if (limit !== undefined)
      fields.push(bytes(2, Buffer.concat([number(1, limit[0]), number(2, limit[1])])))
    if (hits !== undefined) fields.push(bytes(3, number(1, hits)))
    if (negative === true) fields.push(number(4, 1))
    return bytes(2, Buffer.concat(fields))
  })
  return Buffer.concat([bytes(1, domain), ...parts, ...(hits ? [number(3, hits)] : [])])
}

type Fields = Map<number, (bigint | Buffer)[]>

function fieldsOf(message: Buffer): Fields {
  const fields: Fields = new Map()
  let at = 0
  const read = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++]!
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return value
    }
  }
  while (at < message.length) {
    const tag = Number(read())
    const field = tag >> 3
    let value: bigint | Buffer
    if ((tag & 7) === 0) value = read()
    else if ((tag & 7) === 2) {
      const length = Number(read())
      value = message.subarray(at, (at += length))
    } else throw new Error(`the response has wire type ${tag & 7}`)
    fields.set(field, [...(fields.get(field) ?? []), value])
  }
  return fields
}

const numberIn = (fields: Fields, field: number): number => Number(fields.get(field)?.at(-1) ?? 0)
const textIn = (fields: Fields, field: number): string => String(fields.get(field)?.at(-1) ?? '')
const allIn = (fields: Fields, field: number): Buffer[] => (fields.get(field) ?? []) as Buffer[]

/** RateLimitResponse: overall_code 1, statuses 2, response_headers_to_add 3, dynamic_metadata 6. */
export function decode(message: Buffer): Omit<Outcome, 'status'> {
  const response = fieldsOf(message)
  return {
    code: numberIn(response, 1),
    statuses: allIn(response, 2).map(decodeStatus),
    headers: allIn(response, 3).map((header) => {
      const fields = fieldsOf(header)
      return [textIn(fields, 1), textIn(fields, 2)] as const
    }),
  }
}

/** DescriptorStatus: code 1, current_limit 2, limit_remaining 3, duration_until_reset 4. */
function decodeStatus(message: Buffer): Status {
  const status = fieldsOf(message)
  const [limit] = allIn(status, 2)
  const [reset] = allIn(status, 4)
  const shown = limit && fieldsOf(limit)
  return {
    code: numberIn(status, 1),
    remaining: numberIn(status, 3),
    ...(shown && { limit: [numberIn(shown, 1), numberIn(shown, 2)] as const }),
    ...(shown && textIn(shown, 3) !== '' && { name: textIn(shown, 3) }),
    ...(reset && { reset: numberIn(fieldsOf(reset), 1) }),
  }
}
