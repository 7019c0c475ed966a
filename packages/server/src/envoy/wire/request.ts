// RateLimitRequest of envoy.service.ratelimit.v3: the message, and its reading from bytes.
import { BYTES, MessageTooLarge, VARINT, WireReader } from './reader.ts'

/** One key and value of a descriptor. */
export interface Entry {
  readonly key: string
  readonly value: string
}

/** A limit that the caller sets for one descriptor: units of a request and a unit of time, by its number. */
interface LimitOverride {
  readonly requestsPerUnit: number
  readonly unit: number
}

/** What a request is limited by. */
export interface Descriptor {
  readonly entries: readonly Entry[]
  readonly limit: LimitOverride | undefined
  /** Units of this descriptor, 0 for a look; undefined: the request's. Never above 2^53 - 1. */
  readonly hits: number | undefined
  /** The units are refunded. */
  readonly negative: boolean
}

/** A request of a proxy. */
export interface RateLimitRequest {
  readonly domain: string
  readonly descriptors: readonly Descriptor[]
  /** 0 to 2^32 - 1; 0 means 1. */
  readonly hits: number
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

const text = (field: number): number => field * 8 + BYTES
const message = text
const number = (field: number): number => field * 8 + VARINT

const DOMAIN = text(1)
const DESCRIPTORS = message(2)
const HITS = number(3)

/** Descriptors that one request may have, unless the listener is configured otherwise. Envoy sends a handful. */
export const MAX_DESCRIPTORS = 128

/**
 * Decodes a request and ignores unknown fields. Throws {@link WireError} for bytes that are not a request, and
 * {@link MessageTooLarge} at the first descriptor beyond `maxDescriptors`, before any work is done for the others.
 */
export function decodeRequest(
  bytes: Buffer,
  maxDescriptors: number = MAX_DESCRIPTORS,
): RateLimitRequest {
  const reader = new WireReader(bytes)
  const descriptors: Descriptor[] = []
  let domain = ''
  let hits = 0
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === DESCRIPTORS) {
      if (descriptors.length === maxDescriptors)
        throw new MessageTooLarge(
          `a request has more than ${maxDescriptors} descriptors; accepted: at most ${maxDescriptors}`,
        )
      descriptors.push(readDescriptor(reader, descriptors.at(-1)?.entries))
    } else if (tag === DOMAIN) domain = reader.text()
    else if (tag === HITS) hits = reader.number() >>> 0
    else reader.skip(tag)
  }
  return { domain, descriptors, hits }
}

const NONE: readonly never[] = []
const ENTRIES = message(1)
const LIMIT = message(2)
const OWN_HITS = message(3)
const NEGATIVE = number(4)

/** `last` are the entries of the descriptor before, which usually has the same keys. */
function readDescriptor(reader: WireReader, last: readonly Entry[] = NONE): Descriptor {
  const outer = reader.enter()
  let entries: Entry[] | undefined
  let limit: Writable<LimitOverride> | undefined
  let hits: number | undefined
  let negative = false
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === ENTRIES) {
      // Mostly the only one; on a first push V8 makes room for seventeen.
      if (entries === undefined) entries = [readEntry(reader, last[0]?.key)]
      else entries.push(readEntry(reader, last[entries.length]?.key))
    } else if (tag === LIMIT) limit = readLimit(reader, limit)
    else if (tag === OWN_HITS) hits = readWrapped(reader, hits)
    else if (tag === NEGATIVE) negative = reader.number() !== 0
    else reader.skip(tag)
  }
  reader.leave(outer)
  return { entries: entries ?? NONE, limit, hits, negative }
}

const KEY = text(1)
const VALUE = text(2)

function readEntry(reader: WireReader, lastKey = ''): Entry {
  const outer = reader.enter()
  let key = ''
  let value = ''
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === KEY) key = reader.textLike(lastKey)
    else if (tag === VALUE) value = reader.text()
    else reader.skip(tag)
  }
  reader.leave(outer)
  return { key, value }
}

const REQUESTS_PER_UNIT = number(1)
const UNIT = number(2)

/** A message that occurs twice is merged: the fields of the second take precedence. */
function readLimit(
  reader: WireReader,
  limit: Writable<LimitOverride> = { requestsPerUnit: 0, unit: 0 },
): Writable<LimitOverride> {
  const outer = reader.enter()
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === REQUESTS_PER_UNIT) limit.requestsPerUnit = reader.number() >>> 0
    else if (tag === UNIT) limit.unit = reader.number()
    else reader.skip(tag)
  }
  reader.leave(outer)
  return limit
}

const WRAPPED = number(1)

function readWrapped(reader: WireReader, value = 0): number {
  const outer = reader.enter()
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === WRAPPED) value = reader.number()
    else reader.skip(tag)
  }
  reader.leave(outer)
  return value
}
