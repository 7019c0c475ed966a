// The request that all contenders of the gRPC benchmark are asked, and the response that the echo gives.
import { loadSync } from '@grpc/proto-loader'
import { fileURLToPath } from 'node:url'

const protos = fileURLToPath(new URL('../../../spec/protos', import.meta.url))

/** The method by its path. */
export const PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'

/** The limits that ours decides by: so many that nothing is refused while it is measured. */
export const LIMITS = `domain: bench
descriptors:
  - key: user
    rate_limit: { unit: hour, requests_per_unit: 1000000000 }
`

/** The service, with the messages of spec/protos. */
export function serviceDefinition() {
  const options = { keepCase: true, includeDirs: [protos] }
  const all = loadSync('envoy/service/ratelimit/v3/rls.proto', options)
  const service = all['envoy.service.ratelimit.v3.RateLimitService']
  if (!service) throw new Error('spec/protos has no RateLimitService')
  return /** @type {import('@grpc/grpc-js').ServiceDefinition} */ (service)
}

/** A request of so many descriptors, in its frame. @param {number} descriptors */
export function requestFrame(descriptors) {
  const method = serviceDefinition()['ShouldRateLimit']
  if (!method) throw new Error('the service has no ShouldRateLimit')
  const message = method.requestSerialize({
    domain: 'bench',
    descriptors: Array.from({ length: descriptors }, (_, i) => ({
      entries: [{ key: 'user', value: `customer-${1000 + i}` }],
    })),
  })
  const header = Buffer.alloc(5)
  header.writeUInt32BE(message.length, 1)
  return Buffer.concat([header, message])
}

/** What ours answers to such a request, as the echo says it. @param {number} descriptors */
export function response(descriptors) {
  return {
    overall_code: 1,
    statuses: Array.from({ length: descriptors }, () => ({
      code: 1,
      current_limit: { requests_per_unit: 1_000_000_000, unit: 3 },
      limit_remaining: 999_999_999,
      duration_until_reset: { seconds: 1234 },
    })),
  }
}
