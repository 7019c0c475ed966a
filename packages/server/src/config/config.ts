// The configuration of the service after reading: every default filled in, every policy parsed.
import type { AlgorithmName, Millis, OnStoreFailure, Policy } from 'sluice'
import type { DialectName } from 'sluice/http'
import type { LogLevel } from '../log/log.ts'
import type { Charging, EnvoyHeaders } from './envoy-options.ts'

/** Counts in this process, lost when it ends. */
export interface MemoryStoreConfig {
  readonly kind: 'memory'
  /** Most keys held at once. */
  readonly maxKeys: number
}

/** Counts in Redis or Valkey, shared by every instance of the service. */
export interface RedisStoreConfig {
  readonly kind: 'redis'
  /** `redis://` or `rediss://`, with user, password and database as usual. Never log it: it holds a secret. */
  readonly url: string
  /** What every key begins with. */
  readonly prefix: string
  /** When a call is given up. */
  readonly timeout: Millis
  /** Whether the URL names a node of a cluster. */
  readonly cluster: boolean
}

/** Where counts live. */
export type StoreConfig = MemoryStoreConfig | RedisStoreConfig

/** Keys and certificates of a listener; relative paths are beside the configuration. */
export interface TlsConfig {
  /** A PEM file with the certificate, followed by those between it and the root. */
  readonly cert: string
  /** A PEM file with its private key. */
  readonly key: string
  /** A PEM file with the certificates that may have signed a client's. */
  readonly ca?: string
  /** Whether a client must show a certificate. Default `required` when `ca` is there; without it none is requested. */
  readonly clients?: 'required' | 'optional'
  /** Names of which a client's certificate must have one. Default: any certificate that `ca` has signed will do. */
  readonly clientNames?: readonly string[]
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
}

/** Where a protocol listens. */
export interface ListenerConfig {
  readonly host: string
  /** 0 lets the system choose. */
  readonly port: number
  /** Plain text when it is left out. */
  readonly tls?: TlsConfig
}

/** The HTTP listener and what it takes from strangers. */
export interface HttpListenerConfig extends ListenerConfig {
  /** Most bytes of a request's body, and of its headers. */
  readonly maxBody: number
  readonly maxHeaders: number
  /** How long a client may take to send the headers, and the whole request. */
  readonly headersTimeout: Millis
  readonly requestTimeout: Millis
  /** How long a connection may stay open between two requests. */
  readonly idleTimeout: Millis
  /** How long a client may leave an answer unread. */
  readonly sendTimeout: Millis
  readonly maxConnections: number
  readonly maxConnectionsPerAddress: number
  /** Requests of one address that may be unanswered at once. */
  readonly maxRequestsPerAddress: number
}

/** The reverse proxy: where it listens, what is behind it, and how long either side may take. */
export interface ProxyListenerConfig extends ListenerConfig {
  /** `http:` or `https:`, host and port, without a path. */
  readonly upstream: string
  /** The policy that counts; the only one when it is left out. */
  readonly policy?: string
  /** The paths of LLM APIs: their tokens are reserved before, and settled by what the response says. */
  readonly llm?: readonly string[]
  readonly keepHost: boolean
  readonly via: boolean
  /** Whether the certificate of an upstream with TLS must be valid, and a PEM file with who may have signed it. */
  readonly verifyUpstream: boolean
  readonly upstreamCa?: string
  readonly connectTimeout: Millis
  readonly timeout: Millis
  readonly tunnelTimeout: Millis
  /** Most requests and WebSockets at the upstream at once. */
  readonly maxRequests: number
  readonly maxHeaders: number
  readonly headersTimeout: Millis
  readonly requestTimeout: Millis
  readonly idleTimeout: Millis
  /** How long a client may leave an answer unread. */
  readonly sendTimeout: Millis
  readonly maxConnections: number
  readonly maxConnectionsPerAddress: number
  /** Requests of one address that may be unanswered at once. */
  readonly maxRequestsPerAddress: number
}

/** The admin API. It is off as long as there is no token. */
export interface AdminListenerConfig extends HttpListenerConfig {
  /** The SHA-256 of the environment's token, in hex: the token itself is kept nowhere. */
  readonly tokenDigest?: string
  /** A file of tokens, one a line; beside the configuration when it is relative. */
  readonly tokenFile?: string
  /** Where audit lines are written beside the log. */
  readonly auditFile?: string
}

/** The gRPC listener and what it takes from strangers. */
export interface GrpcListenerConfig extends ListenerConfig {
  /** Most bytes of one message. Default 1 MiB. */
  readonly maxMessage?: number
  /** Maximum number of descriptors in one request. Default 128. */
  readonly maxDescriptors?: number
  /** Most bytes of a call's headers. Default 16 KiB. */
  readonly maxHeaders?: number
  /** Default 20,000. */
  readonly maxConnections?: number
  /** Default 10,000. */
  readonly maxConnectionsPerAddress?: number
  /** Calls of one address that may be unanswered at once. Default 10,000. */
  readonly maxRequestsPerAddress?: number
}

/** The listeners and their addresses; a protocol without one is off. */
export interface ListenersConfig {
  readonly http: HttpListenerConfig
  readonly grpc?: GrpcListenerConfig
  readonly proxy?: ProxyListenerConfig
  readonly admin?: AdminListenerConfig
}

/** The rate limit service of Envoy: its own files of descriptors, and how their limits are kept. */
export interface EnvoyConfig {
  /** Files and folders in the format of Envoy's own service; beside the configuration when they are relative. */
  readonly files: readonly string[]
  /** Whether several files may speak of one domain. */
  readonly mergeDomains: boolean
  readonly algorithm: AlgorithmName
  readonly charging: Charging
  /** Headers for the client, beside what Envoy adds itself. */
  readonly headers: readonly EnvoyHeaders[]
  readonly onStoreFailure: OnStoreFailure
  /** Whether tools may ask which services there are. */
  readonly reflection: boolean
}

/** How requests are read at `/v1/auth/…` and by the reverse proxy. */
export interface ProxyConfig {
  /** Patterns such as `/orders/{id}`; what matches none of them counts as one route. */
  readonly routes: readonly string[]
  /** Attributes by the request field that holds them, such as `apiKey: x-api-key`. */
  readonly attributes: Readonly<Record<string, string>>
  /** Those of the whole service unless the file says otherwise here. */
  readonly headers: readonly DialectName[]
  /** How long an auth request is held for a leaky bucket; longer delays are refused. Below the proxy's own timeout. */
  readonly maxDelay: Millis
  /** Whether CORS preflights are counted; blocks refuse them in any case. */
  readonly countPreflights: boolean
  /** Whether paths that servers read in different ways are counted as all of them, or refused with 400. */
  readonly ambiguousPaths: 'count' | 'refuse'
}

/** What happens while a remote store cannot answer; each rule's `onStoreFailure` says whether it is used. */
export interface FailureConfig {
  /** The part of every quota and burst that this instance grants by itself. */
  readonly fallbackShare?: number
  /** Or how many instances share the limits; each grants its part. */
  readonly replicas?: number
}

/** How the service ends. */
export interface ShutdownConfig {
  /** After SIGTERM: how long to answer with "not ready" before the ports close, so that balancers can look away. */
  readonly delay: Millis
  /** How long work that has begun may take to finish. */
  readonly patience: Millis
}

/** Everything that one file, and the environment on top of it, say. */
export interface Config {
  readonly policies: readonly Policy[]
  readonly store: StoreConfig
  readonly listeners: ListenersConfig
  readonly envoy?: EnvoyConfig
  /** The dialects of the fields that clients see. */
  /** The header field that carries the id of a refusal; none when it is left out. */
  readonly decisionIdHeader?: string
  readonly headers: readonly DialectName[]
  readonly proxy: ProxyConfig
  readonly failure: FailureConfig
  /** The networks of the proxies in front, whose word on the client's address is believed. */
  readonly trustedProxies: readonly string[]
  readonly shutdown: ShutdownConfig
  /** How many processes share the ports. */
  readonly workers: number
  readonly log: LogLevel
}
