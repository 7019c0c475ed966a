// RateLimitRequest and RateLimitResponse as JSON, in the names of protobuf's JSON mapping.
import { BadRequest } from '../decide/domain.ts'
import { UNITS } from '../descriptors/unit.ts'
import { MAX_DESCRIPTORS, type Descriptor, type Entry, type RateLimitRequest } from './request.ts'
import { OVER_LIMIT, type DescriptorStatus, type RateLimitResponse } from './response.ts'

type Members = Readonly<Record<string, unknown>>

/** Reads a request; both spellings of a name are accepted, as in `hitsAddend` and `hits_addend`. Throws {@link BadRequest}. */
export function requestOfJson(body: unknown): RateLimitRequest {
  const request = objectIn('the body', body)
  const descriptors = listIn('descriptors', request['descriptors'])
  if (descriptors.length > MAX_DESCRIPTORS)
    throw new BadRequest(
      `there are ${descriptors.length} descriptors; accepted: at most ${MAX_DESCRIPTORS}`,
    )
  return {
    domain: stringIn('domain', request['domain'] ?? ''),
    descriptors: descriptors.map(descriptorOf),
    hits: hitsIn(request['hitsAddend'] ?? request['hits_addend'] ?? 0, 2 ** 32 - 1),
  }
}

function descriptorOf(value: unknown): Descriptor {
  const descriptor = objectIn('a descriptor', value)
  const hits = descriptor['hitsAddend'] ?? descriptor['hits_addend']
  if (descriptor['limit'] !== undefined)
    throw new BadRequest('a descriptor has a limit; accepted: over gRPC only')
  return {
    entries: listIn('entries', descriptor['entries']).map(entryOf),
    limit: undefined,
    hits: hits === undefined ? undefined : hitsIn(hits, Number.MAX_SAFE_INTEGER),
    negative: descriptor['isNegativeHits'] === true || descriptor['is_negative_hits'] === true,
  }
}

function entryOf(value: unknown): Entry {
  const { key, value: own = '' } = objectIn('an entry', value)
  return { key: stringIn('key', key), value: stringIn('value', own) }
}

/** The JSON of a response. */
export function responseJson({ overallCode, statuses }: RateLimitResponse): string {
  return JSON.stringify({ overallCode: codeName(overallCode), statuses: statuses.map(statusOf) })
}

function statusOf({ code, currentLimit, limitRemaining, secondsUntilReset }: DescriptorStatus) {
  const unit = UNITS.find(({ number }) => number === currentLimit?.unit)?.name.toUpperCase()
  const limit = currentLimit && {
    ...(currentLimit.name !== '' && { name: currentLimit.name }),
    requestsPerUnit: currentLimit.requestsPerUnit,
    unit,
  }
  return {
    code: codeName(code),
    ...(limit && { currentLimit: limit }),
    limitRemaining,
    ...(secondsUntilReset !== undefined && { durationUntilReset: `${secondsUntilReset}s` }),
  }
}

function codeName(code: number): string {
  return code === OVER_LIMIT ? 'OVER_LIMIT' : 'OK'
}

function objectIn(what: string, value: unknown): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members
  throw new BadRequest(`${what} is not an object`)
}

function listIn(what: string, value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw new BadRequest(`${what} is not a list`)
}

function stringIn(what: string, value: unknown): string {
  if (typeof value === 'string') return value
  throw new BadRequest(`${what} is not a string`)
}

/** 64-bit numbers may come as strings. */
function hitsIn(value: unknown, max: number): number {
  const hits = typeof value === 'string' ? Number(value) : value
  if (typeof hits === 'number' && Number.isInteger(hits) && hits >= 0 && hits <= max) return hits
  throw new BadRequest(`hitsAddend is not a whole number from 0 to ${max}`)
}
