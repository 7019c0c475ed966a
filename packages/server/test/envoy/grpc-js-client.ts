// A client on @grpc/grpc-js, the runtime of Node services, with the definitions of this workspace.
import { fileURLToPath } from 'node:url'
import {
  credentials,
  loadPackageDefinition,
  type ChannelCredentials,
  type ServiceError,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import type { Client, Outcome } from './client.ts'

const protos = fileURLToPath(new URL('../../../../spec/protos', import.meta.url))

interface Response {
  overall_code: number
  statuses: {
    code: number
    current_limit: { name: string; requests_per_unit: number; unit: number } | null
    limit_remaining: number
    duration_until_reset: { seconds: number } | null
  }[]
  response_headers_to_add: { key: string; value: string }[]
}

interface Stub {
  ShouldRateLimit(
    request: object,
    options: { deadline: number },
    done: (error: ServiceError | null, response?: Response) => void,
  ): void
  close(): void
}

/** Opens a channel to `host:port`, in plain text unless there are credentials. */
export function grpcJsClient(
  target: string,
  by: ChannelCredentials = credentials.createInsecure(),
): Client {
  const definition = loadSync('envoy/service/ratelimit/v3/rls.proto', {
    keepCase: true,
    longs: Number,
    enums: Number,
    defaults: true,
    includeDirs: [protos],
  })
  const service = definition['envoy.service.ratelimit.v3.RateLimitService']!
  const loaded = loadPackageDefinition({ RateLimitService: service })
  const Service = loaded['RateLimitService'] as unknown as new (...args: unknown[]) => Stub
  const stub = new Service(target, by)
  return {
    name: '@grpc/grpc-js',
    ask({ domain, hits, descriptors }) {
      const request = {
        domain,
        hits_addend: hits,
        descriptors: descriptors.map(({ entries, limit, hits, negative }) => ({
          entries: entries.map(([key, value]) => ({ key, value })),
          ...(limit && { limit: { requests_per_unit: limit[0], unit: limit[1] } }),
          ...(hits !== undefined && { hits_addend: { value: hits } }),
          is_negative_hits: negative,
        })),
      }
      return new Promise((resolve) => {
        stub.ShouldRateLimit(request, { deadline: Date.now() + 5000 }, (error, response) => {
          resolve(error === null ? outcomeOf(response!) : { status: error.code })
        })
      })
    },
    close: async () => stub.close(),
  }
}

function outcomeOf(response: Response): Outcome {
  return {
    status: 0,
    code: response.overall_code,
    statuses: response.statuses.map((status) => ({
      code: status.code,
      remaining: status.limit_remaining,
      ...(status.current_limit && {
        limit: [status.current_limit.requests_per_unit, status.current_limit.unit] as const,
      }),
      ...(status.current_limit?.name && { name: status.current_limit.name }),
      ...(status.duration_until_reset && { reset: status.duration_until_reset.seconds }),
    })),
    headers: response.response_headers_to_add.map(({ key, value }) => [key, value] as const),
  }
}
