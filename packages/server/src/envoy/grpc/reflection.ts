// gRPC reflection: tools such as grpcurl learn the services and their messages from it.
import type { ServerHttp2Stream } from 'node:http2'
import { WireReader } from '../wire/reader.ts'
import { WireWriter } from '../wire/writer.ts'
import { FILE_DESCRIPTORS } from './descriptors.generated.ts'
import { FRAME_HEADER, FrameReader, sealed } from './frames.ts'
import { openReply } from './reply.ts'
import type { StreamMethod } from './server.ts'
import { STATUS, statusErrorOf, type StatusError } from './status.ts'

/** The service's own names: the same messages under two versions. */
const SERVICES = ['grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection']
const MAX_REQUEST = 4096

/** The paths of the reflection service. `services` are the names that it lists. */
export function reflectionMethods(services: readonly string[]): [string, StreamMethod][] {
  const reply = answers(services)
  const method: StreamMethod = (stream, onMessage) => serve(stream, reply, onMessage)
  return SERVICES.map((service) => [`/${service}/ServerReflectionInfo`, method])
}

function serve(
  stream: ServerHttp2Stream,
  reply: (request: Buffer) => Buffer,
  onMessage: (next: 'again') => void,
): void {
  const frames = new FrameReader(MAX_REQUEST)
  const waiting: Buffer[] = []
  let failure: StatusError | undefined
  openReply(stream, () => failure)
  // An answer is a hundred times the size of its request: none is written before the client has read those before.
  const work = (): void => {
    try {
      while (waiting.length > 0 && !stream.writableNeedDrain) stream.write(reply(waiting.shift()!))
    } catch (error) {
      failure = statusErrorOf(error)
    }
    if (failure !== undefined || (waiting.length === 0 && stream.readableEnded)) stream.end()
    else if (waiting.length === 0) stream.resume()
    else stream.pause()
  }
  stream.on('data', (chunk: Buffer) => {
    if (failure !== undefined) return
    try {
      const requests = frames.push(chunk)
      if (requests.length > 0) onMessage('again')
      for (const request of requests) waiting.push(request)
    } catch (error) {
      failure = statusErrorOf(error)
    }
    work()
  })
  stream.on('drain', work)
  stream.on('end', work)
}

/** Fields of ServerReflectionRequest, each a string. */
const BY_FILE_NAME = 3
const BY_SYMBOL = 4
const LIST_SERVICES = 7

function answers(services: readonly string[]): (request: Buffer) => Buffer {
  const writer = new WireWriter()
  const files = FILE_DESCRIPTORS.map((text) => readFile(Buffer.from(text, 'base64')))
  return (request) => {
    const { field, text } = readRequest(request)
    writer.start(FRAME_HEADER)
    writer.bytes(2, request)
    const found =
      field === BY_FILE_NAME
        ? files.find(({ name }) => name === text)
        : files.find(({ packageName }) => text.startsWith(`${packageName}.`))
    if (field === LIST_SERVICES) {
      const list = writer.open(6)
      for (const service of services) {
        const one = writer.open(1)
        writer.text(1, service)
        writer.close(one)
      }
      writer.close(list)
    } else if (found !== undefined && (field === BY_FILE_NAME || field === BY_SYMBOL)) {
      const response = writer.open(4)
      writer.bytes(1, found.bytes)
      writer.close(response)
    } else {
      const error = writer.open(7)
      writer.number(1, STATUS.NOT_FOUND)
      writer.text(2, `there is nothing named ${text}`)
      writer.close(error)
    }
    return sealed(writer.finish())
  }
}

function readRequest(request: Buffer): { field: number; text: string } {
  const reader = new WireReader(request)
  let field = 0
  let text = ''
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    const number = tag >>> 3
    if (number === BY_FILE_NAME || number === BY_SYMBOL || number === LIST_SERVICES) {
      field = number
      text = reader.text()
    } else reader.skip(tag)
  }
  return { field, text }
}

/** The name and the package of a FileDescriptorProto. */
function readFile(bytes: Buffer): { name: string; packageName: string; bytes: Buffer } {
  const reader = new WireReader(bytes)
  let name = ''
  let packageName = ''
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === 10) name = reader.text()
    else if (tag === 18) packageName = reader.text()
    else reader.skip(tag)
  }
  return { name, packageName, bytes }
}
