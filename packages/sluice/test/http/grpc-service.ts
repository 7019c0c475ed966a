// A small gRPC service on a real socket, limited by whatever a test wants, and a client for it.
import { fileURLToPath } from 'node:url'
import {
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  type ClientOptions,
  type sendUnaryData,
  type ServerInterceptor,
  type ServerUnaryCall,
  type ServerWritableStream,
  type StatusObject,
} from '@grpc/grpc-js'
import { loadSync, type MessageTypeDefinition } from '@grpc/proto-loader'

const bytes = {
  to: (text: string): Buffer => Buffer.from(text),
  from: (data: Buffer) => data.toString(),
}
const method = (name: string, responseStream: boolean) => ({
  path: `/shop.Orders/${name}`,
  requestStream: false,
  responseStream,
  requestSerialize: bytes.to,
  requestDeserialize: bytes.from,
  responseSerialize: bytes.to,
  responseDeserialize: bytes.from,
})
const METHODS = {
  get: method('Get', false),
  list: method('List', true),
  fail: method('Fail', false),
}

/** How one call went: what came before the messages, the messages, and how it ended. */
interface Called {
  readonly headers: Metadata
  readonly messages: readonly string[]
  readonly code: number
  readonly details: string
  readonly trailers: Metadata
}

/** A running service and its client. */
export interface GrpcService {
  /** Messages of the calls whose handlers have run. */
  readonly handled: string[]
  readonly call: (
    name: keyof typeof METHODS,
    fields?: Record<string, string>,
    message?: string,
  ) => Running
  close(): void
}

/** A call that can be given up. */
type Running = Promise<Called> & { cancel(): void }

/** Starts the service behind interceptors. */
export async function startGrpc(
  interceptors: ServerInterceptor[],
  options: ClientOptions = {},
): Promise<GrpcService> {
  const handled: string[] = []
  const server = new Server({ interceptors })
  server.addService(METHODS, {
    get({ request }: ServerUnaryCall<string, string>, done: sendUnaryData<string>) {
      handled.push(request)
      done(null, `order ${request}`)
    },
    list(call: ServerWritableStream<string, string>) {
      handled.push(call.request)
      for (const order of ['one', 'two']) call.write(order)
      call.end()
    },
    fail({ request }: ServerUnaryCall<string, string>, done: sendUnaryData<string>) {
      handled.push(request)
      done({ code: 5, details: 'no such order' })
    },
  })
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    )
  })
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), options)
  return {
    handled,
    call: (name, fields = {}, message = '7') => call(client, name, fields, message),
    close() {
      client.close()
      server.forceShutdown()
    },
  }
}

function call(
  client: Client,
  name: keyof typeof METHODS,
  fields: Record<string, string>,
  message: string,
): Running {
  const metadata = new Metadata()
  for (const [field, value] of Object.entries(fields)) metadata.set(field, value)
  const { path, requestSerialize, responseDeserialize } = METHODS[name]
  const stream = client.makeServerStreamRequest(
    path,
    requestSerialize,
    responseDeserialize,
    message,
    metadata,
    { deadline: Date.now() + 10_000 },
  )
  const made = new Promise<Called>((resolve) => {
    let headers = new Metadata()
    const messages: string[] = []
    stream.on('metadata', (received: Metadata) => (headers = received))
    stream.on('data', (text: string) => messages.push(text))
    stream.on('error', () => undefined)
    stream.on('status', ({ code, details, metadata: trailers }: StatusObject) =>
      resolve({ headers, messages, code, details, trailers }),
    )
  })
  return Object.assign(made, { cancel: () => stream.cancel() })
}

const googleapis = fileURLToPath(
  new URL('../../../../node_modules/@grpc/grpc-js-xds/deps/googleapis', import.meta.url),
)
const definitions = loadSync(['google/rpc/status.proto', 'google/rpc/error_details.proto'], {
  includeDirs: [googleapis],
  longs: Number,
  keepCase: true,
})

/** The details of a status, decoded with Google's own definitions, by type. */
export function detailsIn(trailers: Metadata): Record<string, unknown> {
  const decode = (type: string, data: Buffer): unknown =>
    (definitions[type] as MessageTypeDefinition<object, object>).deserialize(data)
  const [data] = trailers.get('grpc-status-details-bin') as Buffer[]
  if (data === undefined) return {}
  const status = decode('google.rpc.Status', data) as {
    code: number
    message: string
    details: { type_url: string; value: Buffer }[]
  }
  const made: Record<string, unknown> = { code: status.code, message: status.message }
  for (const { type_url: url, value } of status.details) {
    const type = url.slice(url.indexOf('/') + 1)
    made[type] = decode(type, value)
  }
  return made
}
