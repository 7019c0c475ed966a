// The gRPC listener of the service: rate limits for Envoy, health, and reflection when it is switched on.
import type { Listener } from '../net/listener.ts'
import type { ServiceContext } from '../limiters/limiters.ts'
import type { Domains } from './decide/domain.ts'
import { healthMethods } from './grpc/health.ts'
import { reflectionMethods } from './grpc/reflection.ts'
import {
  startGrpcServer,
  type GrpcServerOptions,
  type StreamMethod,
  type UnaryMethod,
} from './grpc/server.ts'
import { envoyMetrics } from './metrics.ts'
import { RATE_LIMIT_SERVICE, SHOULD_RATE_LIMIT, shouldRateLimit } from './should-rate-limit.ts'

const HEALTH_SERVICE = 'grpc.health.v1.Health'
/** The name by which probes made for Envoy's own service ask. */
const REFERENCE_NAME = 'ratelimit'

const MAX_CONNECTIONS = 20_000

/** How the listener is opened. */
export interface EnvoyListenerOptions extends Omit<GrpcServerOptions, 'onCall' | 'onBug'> {
  /** Read once per request. */
  readonly domains: Domains
  /** Whether tools may ask which services there are. Default false. */
  readonly reflection?: boolean
  /** Descriptors of one request, at most. Default 128. */
  readonly maxDescriptors?: number
}

/** Opens the port. */
export async function openEnvoy(
  { domains, reflection = false, maxDescriptors, ...options }: EnvoyListenerOptions,
  { health, metrics, log }: Pick<ServiceContext, 'health' | 'metrics' | 'log'>,
): Promise<Listener> {
  const { onCall, onResponse } = envoyMetrics(metrics)
  const checks = healthMethods(health, [RATE_LIMIT_SERVICE, REFERENCE_NAME])
  const unary = new Map<string, UnaryMethod>([
    [SHOULD_RATE_LIMIT, shouldRateLimit(domains, { onResponse, maxDescriptors })],
    checks.unary,
  ])
  const streams = new Map<string, StreamMethod>([checks.stream])
  if (reflection) {
    const methods = reflectionMethods([RATE_LIMIT_SERVICE, HEALTH_SERVICE])
    for (const [path, method] of methods) streams.set(path, method)
  }
  const server = await startGrpcServer(
    { unary, streams },
    {
      maxConnections: MAX_CONNECTIONS,
      ...options,
      onCall,
      onBug: (error) => log.error({ error: String(error) }, 'a call ended with an error of ours'),
    },
  )
  const scheme = options.tls === undefined ? 'http' : 'https'
  const host = options.host.includes(':') ? `[${options.host}]` : options.host
  return {
    name: 'grpc',
    url: `${scheme}://${host}:${server.port}`,
    close: (patience) => server.close(patience),
  }
}
