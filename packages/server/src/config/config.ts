// The configuration of the service after reading: every default filled in, every policy parsed. Its types follow from the shape.
import type { Policy } from 'sluice'
import type { DialectName } from 'sluice/http'
import type { z } from 'zod'
import type { adminListener } from './shape/admin.ts'
import type { envoy } from './shape/envoy.ts'
import type { failure } from './shape/failure.ts'
import type { file, shutdown } from './shape/file.ts'
import type { grpc } from './shape/grpc.ts'
import type { http, listeners } from './shape/listeners.ts'
import type { proxyListener } from './shape/proxy-listener.ts'
import type { proxy } from './shape/proxy.ts'
import type { store } from './shape/store.ts'
import type { tls } from './shape/tls.ts'
import type { webhook } from './shape/webhooks.ts'

/** The type of the values that a shape reads. */
type Read<T extends z.ZodType> = Readonly<z.output<T>>

/** Where counts live. A URL of Redis may hold a password: never log it. */
export type StoreConfig = Read<typeof store>

/** Counts in Redis or Valkey, shared by every instance of the service. */
export type RedisStoreConfig = Extract<StoreConfig, { readonly kind: 'redis' }>

/** Counts in this process, lost when it ends. */
export type MemoryStoreConfig = Extract<StoreConfig, { readonly kind: 'memory' }>

/** Keys and certificates of a listener; relative paths start at the folder of the configuration. */
export type TlsConfig = Read<typeof tls>

/** The HTTP listener and its limits for clients. */
export type HttpListenerConfig = Read<typeof http>

/** Where a protocol listens; a port of 0 lets the system choose. */
export type ListenerConfig = Pick<HttpListenerConfig, 'host' | 'port' | 'tls'>

/** The reverse proxy: where it listens, what is behind it, and how long either side may take. */
export type ProxyListenerConfig = Read<typeof proxyListener>

/** The admin API. It is off as long as there is no token. */
export type AdminListenerConfig = Read<typeof adminListener> & {
  /** The SHA-256 of the environment's token, in hex: the token itself is kept nowhere. */
  readonly tokenDigest?: string
}

/** The gRPC listener and its limits for clients. */
export type GrpcListenerConfig = Read<typeof grpc>

/** The listeners and their addresses; a protocol without one is off. */
export type ListenersConfig = Omit<Read<typeof listeners>, 'admin'> & {
  readonly admin?: AdminListenerConfig
}

/** The rate limit service of Envoy: its own files of descriptors, and how their limits are kept. */
export type EnvoyConfig = Read<typeof envoy>

/**
 * What a refused request costs. `all-or-none`: nothing. `each`: every descriptor pays for itself, whatever the
 * others say, as in Envoy's own service; counts stop at the limit.
 */
export type Charging = EnvoyConfig['charging']

/** `retry-after` on refusals, and every dialect of the library's table. */
export type EnvoyHeaders = EnvoyConfig['headers'][number]

/** How requests are read at `/v1/auth/…` and by the reverse proxy. */
export type ProxyConfig = Read<typeof proxy> & {
  /** Those of the whole service unless the file says otherwise here. */
  readonly headers: readonly DialectName[]
}

/** What happens while a remote store cannot answer; each rule's `onStoreFailure` says whether it is used. */
export type FailureConfig = Read<typeof failure>

/** Where events are sent. The address may hold a secret: never log it, nor the secret itself. */
export type WebhookConfig = Read<typeof webhook>

/** How the service ends. */
export type ShutdownConfig = Read<typeof shutdown>

/** What the shape gives: everything in place except the policies. */
export type Outline = Omit<Read<typeof file>, 'listeners' | 'proxy'> & {
  readonly listeners: ListenersConfig
  readonly proxy: ProxyConfig
}

/** The contents of one file, with the environment applied. */
export type Config = Omit<Outline, 'policies'> & { readonly policies: readonly Policy[] }

/** The policy that decides about requests of the reverse proxy, by its name; undefined when there is no reverse proxy. */
export function proxiedPolicy({
  listeners: { proxy },
  policies,
}: Pick<Config, 'listeners' | 'policies'>): string | undefined {
  return proxy === undefined ? undefined : (proxy.policy ?? policies[0]?.name)
}
