// RateLimitResponse of envoy.service.ratelimit.v3: the message, and its writing into bytes.
import { writeStruct, type Json } from './struct.ts'
import { WireWriter } from './writer.ts'

/** The answers of the protocol. There is a third, UNKNOWN, which is never given. */
export const OK = 1
export const OVER_LIMIT = 2
export type Code = typeof OK | typeof OVER_LIMIT

/** A limit as it is shown to the caller. Made once for each rule, together with its bytes. */
export interface CurrentLimit {
  readonly name: string
  readonly requestsPerUnit: number
  /** The unit of time, by its number in the protocol. */
  readonly unit: number
  /** The field `current_limit` of a status, tag and all. */
  readonly encoded: Uint8Array
}

/** The answer for one descriptor. */
export interface DescriptorStatus {
  readonly code: Code
  readonly currentLimit: CurrentLimit | undefined
  /** 0 to 2^32 - 1. */
  readonly limitRemaining: number
  /** Whole seconds, rounded up; undefined when no limit applied. */
  readonly secondsUntilReset: number | undefined
}

/** A header that the proxy is asked to add. */
export interface HeaderValue {
  readonly key: string
  readonly value: string
}

/** The answer: as many statuses as the request has descriptors. */
export interface RateLimitResponse {
  readonly overallCode: Code
  readonly statuses: readonly DescriptorStatus[]
  readonly responseHeaders: readonly HeaderValue[]
  readonly dynamicMetadata: { readonly [name: string]: Json } | undefined
  /** Descriptors without room whose limit is not enforced; for metrics, not sent. */
  readonly unenforced: number
}

/** The largest number of `uint32` fields, and what is left where there is no limit. */
export const MAX_UINT32 = 4_294_967_295

const writer = new WireWriter()

/** The limit with its bytes. */
export function currentLimit(name: string, requestsPerUnit: number, unit: number): CurrentLimit {
  const shown = Math.min(requestsPerUnit, MAX_UINT32)
  writer.start()
  const limit = writer.open(2)
  writer.number(1, shown)
  writer.number(2, unit)
  writer.text(3, name)
  writer.close(limit)
  return { name, requestsPerUnit: shown, unit, encoded: writer.finish() }
}

/** The response's bytes, after `room` bytes for the header of a frame. */
export function encodeResponse(response: RateLimitResponse, room = 0): Buffer {
  writer.start(room)
  writer.number(1, response.overallCode)
  for (const status of response.statuses) {
    const { currentLimit, secondsUntilReset } = status
    const start = writer.open(2)
    writer.number(1, status.code)
    if (currentLimit !== undefined) writer.raw(currentLimit.encoded)
    writer.number(3, status.limitRemaining)
    if (secondsUntilReset !== undefined) {
      const duration = writer.open(4)
      writer.number(1, secondsUntilReset)
      writer.close(duration)
    }
    writer.close(start)
  }
  for (const header of response.responseHeaders) {
    const start = writer.open(3)
    writer.text(1, header.key)
    writer.text(2, header.value)
    writer.close(start)
  }
  if (response.dynamicMetadata !== undefined) {
    const start = writer.open(6)
    writeStruct(writer, response.dynamicMetadata)
    writer.close(start)
  }
  return writer.finish()
}
