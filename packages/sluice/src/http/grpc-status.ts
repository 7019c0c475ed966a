// A refusal as a status of gRPC, with trailers that carry the wait for people, clients and retry policies.
import type { Millis } from '../time/clock.ts'
import type { GrpcMetadata, GrpcStatus } from './grpc-adapter.ts'
import type { Admission } from './admission.ts'
import type { ProblemDetails } from './problem.ts'
import type { RefusalReply } from './refusal-reply.ts'

/** INVALID_ARGUMENT, RESOURCE_EXHAUSTED, INTERNAL and UNAVAILABLE. */
const CODES: Readonly<Record<number, number>> = { 400: 3, 429: 8, 500: 13, 503: 14 }
const [RESOURCE_EXHAUSTED, INTERNAL] = [8, 13]
const TYPES = 'type.googleapis.com/google.rpc.'
/** Retry policies read the wait as a signed number of 32 bits. */
const MAX_PUSHBACK_MS = 2 ** 31 - 1

/** Only buffers make binary metadata, and gRPC runs where they are. */
declare const Buffer: { from(bytes: readonly number[]): Uint8Array }

/**
 * The status of a refusal; fills its trailers: `google.rpc.RetryInfo` and `QuotaFailure` among the details,
 * `retry-after` in seconds, and for a client over its limit `grpc-retry-pushback-ms`, -1 when no wait helps.
 */
export function statusOf(
  refusal: RefusalReply,
  { decision }: Admission,
  isSpread: boolean,
  metadata: GrpcMetadata,
): GrpcStatus {
  const code = CODES[refusal.status] ?? INTERNAL
  const problem = problemIn(refusal)
  const details = problem.detail ?? ''
  const seconds = refusal.fields.find(([name]) => name === 'Retry-After')?.[1]
  // The decision knows the wait to the millisecond; a spread wait is known in seconds only.
  const exact = isSpread ? 0 : (decision?.retryAfter ?? 0)
  const wait = seconds === undefined ? null : exact > 0 ? Math.ceil(exact) : Number(seconds) * 1000
  if (seconds !== undefined) metadata.set('retry-after', seconds)
  if (code === RESOURCE_EXHAUSTED)
    metadata.set(
      'grpc-retry-pushback-ms',
      String(wait === null || wait > MAX_PUSHBACK_MS ? -1 : wait),
    )
  const rules = problem['violated-policies'] ?? []
  const list = [...retryInfo(wait), ...quotaFailure(rules)]
  if (list.length > 0) {
    const status = [...integer(1, code), ...bytes(2, utf8(details)), ...list]
    metadata.set('grpc-status-details-bin', Buffer.from(status))
  }
  return { code, details, metadata }
}

/** The problem in a reply; the application may have replaced it with anything. */
function problemIn({ body }: RefusalReply): Partial<ProblemDetails> {
  const value = jsonIn(body)
  if (typeof value !== 'object' || value === null) return { detail: body }
  const { detail, 'violated-policies': rules } = value as Partial<ProblemDetails>
  return {
    detail: typeof detail === 'string' ? detail : body,
    'violated-policies': Array.isArray(rules) ? rules : [],
  }
}

function jsonIn(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}

function retryInfo(wait: Millis | null): number[] {
  if (wait === null) return []
  const duration = [...integer(1, Math.floor(wait / 1000)), ...integer(2, (wait % 1000) * 1e6)]
  return detail('RetryInfo', bytes(1, duration))
}

function quotaFailure(rules: readonly string[]): number[] {
  if (rules.length === 0) return []
  const violations = rules.flatMap((rule) => bytes(1, bytes(2, utf8(String(rule)))))
  return detail('QuotaFailure', violations)
}

/** One entry of `google.rpc.Status.details`, an `Any`. */
function detail(type: string, value: readonly number[]): number[] {
  return bytes(3, [...bytes(1, utf8(TYPES + type)), ...bytes(2, value)])
}

function bytes(field: number, value: ArrayLike<number>): number[] {
  return [(field << 3) | 2, ...varint(value.length), ...Array.from(value)]
}

function integer(field: number, value: number): number[] {
  return value === 0 ? [] : [field << 3, ...varint(value)]
}

function varint(value: number): number[] {
  const bytesSoFar: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytesSoFar.push((rest % 128) | 128)
  return [...bytesSoFar, rest]
}

function utf8(string: string): Uint8Array {
  return new TextEncoder().encode(string)
}
