// Reads calls of gRPC and writes metadata: one request in the shape of the core.
import type { FrameworkAdapter } from './framework-adapter.ts'

/**
 * What is used of grpc-js's `Metadata`.
 *
 * @example
 * ```ts
 * const userOf = (metadata: GrpcMetadata) => metadata.get('x-user')[0]?.toString()
 * ```
 */
export interface GrpcMetadata {
  get(name: string): readonly (string | Uint8Array)[]
  set(name: string, value: string | Uint8Array): void
  clone(): GrpcMetadata
}

/**
 * What is used of the call that grpc-js hands to an interceptor.
 *
 * @example
 * ```ts
 * const peerOf = (call: GrpcCall): string => call.getPeer()
 * ```
 */
export interface GrpcCall {
  getPeer(): string
  /** Takes a `GrpcStatus`; grpc-js declares its own type there, which fits and is not imported. */
  sendStatus(status: never): void
}

/** How a call ends. */
export interface GrpcStatus {
  code?: number | null
  details?: string | null
  metadata?: GrpcMetadata | null
}

/**
 * A call, for the functions of the application.
 *
 * @example
 * ```ts
 * const user = ({ metadata }: GrpcRequest) => metadata.get('x-user')[0]?.toString()
 * ```
 */
export class GrpcRequest {
  /** The method in full, such as `/shop.Orders/List`. */
  readonly path: string
  /** The client's metadata, as interceptors before this one left it. */
  readonly metadata: GrpcMetadata
  readonly call: GrpcCall

  constructor(path: string, metadata: GrpcMetadata, call: GrpcCall) {
    this.path = path
    this.metadata = metadata
    this.call = call
  }

  /** A string of the metadata, several joined with commas; undefined when there is none. */
  header(name: string): string | undefined {
    const values = this.metadata.get(name)
    return values.length === 0 ? undefined : values.join(', ')
  }
}

/** Reads calls and writes metadata. The route is the method: only methods that the server has arrive here. */
export const grpcAdapter: FrameworkAdapter<GrpcRequest, GrpcMetadata> = {
  peerAddress: ({ call }) => addressIn(call.getPeer()),
  header: (request, name) => request.header(name),
  fieldLines: ({ metadata }, name) =>
    metadata.get(name).length +
    (name.includes('-') ? metadata.get(name.replaceAll('-', '_')).length : 0),
  method: () => 'POST',
  path: ({ path }) => path,
  route: ({ path }) => path,
  get: (metadata, name) => metadata.get(name)[0]?.toString(),
  set: (metadata, name, value) => metadata.set(name, value),
}

/** The address of `192.0.2.1:50051` or `2001:db8::1:50051`; none of `unknown`, as on a Unix socket. */
function addressIn(peer: string): string | undefined {
  const end = peer.lastIndexOf(':')
  return end === -1 ? undefined : peer.slice(0, end)
}
