// The id of a reservation: it says all that settling needs, so that any process with the policy can settle it.
import { SluiceError } from '../errors.ts'
import type { Attributes } from '../policy/policy.ts'
import type { Millis } from '../time/clock.ts'

// Made once: making one costs more than using it.
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

/** As much of Node's `Buffer` as is used. It is looked up, not imported: browsers and edges have none. */
interface NodeRuntime {
  readonly Buffer?: {
    allocUnsafeSlow(bytes: number): NodeBuffer
    from(bytes: ArrayBufferLike): NodeBuffer
  }
}
interface NodeBuffer {
  write(text: string): number
  toString(encoding: 'base64url', start?: number, end?: number): string
}
const { Buffer } = globalThis as NodeRuntime

// Nearly all ids are made of ASCII, of which the encoded form is the text itself.
// oxlint-disable-next-line no-control-regex
const NOT_ASCII = /[^\x00-\x7f]/

/** The longest id, in characters. */
const MAX_LENGTH = 8192

/** Where the text of an id is encoded. Made once: a buffer for each id would be garbage at once. */
const scratch = Buffer?.allocUnsafeSlow(MAX_LENGTH)
/** A character takes three bytes at most. */
const MAX_SCRATCH = MAX_LENGTH / 3

const NOT_AN_ID = 'the id is not that of a reservation; pass the id that reserve returned'

/**
 * What an id says.
 *
 * @example
 * ```ts
 * const { policy, units, endsAt }: ReservationData = reservationData(reservation.id)
 * ```
 */
export interface ReservationData {
  /** The id of the holds in the store. */
  readonly hold: string
  readonly policy: string
  readonly attributes: Attributes
  /** Units that were reserved; of a slot 0. */
  readonly units: number
  /** Whether nothing is held in the store: it could not answer, or no rule with `hold` applied and `endsAt` is 0. */
  readonly isDegraded: boolean
  /** When the first hold ends unless it is extended, by the store's clock; 0 when it is not known. */
  readonly endsAt: Millis
}

/** What stands between the parts of a plain id: policy, units, degraded, end, and the attributes. It is not in base64. */
const PART = '~'
/** Plain parts need no escapes, in a URL neither. */
const NOT_PLAIN = /[^\w.-]/
/** Writes an id. It holds the attributes in readable form. */
export function writeId(data: ReservationData): string {
  return plainId(data) ?? encodedId(data)
}

/** What most ids are: parts of plain text, which cost a third of JSON in base64. Undefined when a part is not plain. */
function plainId(data: ReservationData): string | undefined {
  const { hold, policy, attributes, units, isDegraded, endsAt } = data
  if (NOT_PLAIN.test(policy)) return undefined
  let id = `${hold}.${policy}${PART}${units}${PART}${isDegraded ? 1 : 0}${PART}${endsAt}`
  for (const name of Object.keys(attributes)) {
    const value = attributes[name]
    if (typeof value !== 'string' || NOT_PLAIN.test(value) || NOT_PLAIN.test(name)) return undefined
    id += `${PART}${name}${PART}${value}`
  }
  return id
}

function encodedId(data: ReservationData): string {
  const { hold, policy, attributes, units, isDegraded, endsAt } = data
  const text = JSON.stringify([policy, attributes, units, isDegraded ? 1 : 0, endsAt])
  return `${hold}.${encoded(text)}`
}

/** Reads an id. Throws `unknown-reservation` when it is not one of this policy. */
export function readId(id: unknown, policy: string): ReservationData {
  const data = reservationData(id)
  if (data.policy !== policy)
    throw unknownReservation(`the reservation is of the policy ${data.policy}; settle it there`)
  return data
}

/**
 * The name of the policy that an id belongs to. Throws `unknown-reservation` when it is not an id.
 *
 * @example
 * ```ts
 * const policy = reservationPolicy(reservation.id)
 * ```
 */
export function reservationPolicy(id: unknown): string {
  return reservationData(id).policy
}

/**
 * What an id says: the policy, the units of a reservation or 0 for a slot, and when it ends unless it is extended. Throws
 * `unknown-reservation` when it is not an id.
 *
 * @example
 * ```ts
 * const { units, endsAt } = reservationData(reservation.id)
 * ```
 */
export function reservationData(id: unknown): ReservationData {
  const data = typeof id === 'string' && id.length <= MAX_LENGTH ? parsed(id) : undefined
  if (data === undefined) throw unknownReservation(NOT_AN_ID)
  return data
}

/** The error of an id that nothing is known of. */
export function unknownReservation(message: string): SluiceError {
  return new SluiceError('unknown-reservation', message)
}

/** Random bytes in one id, and their length as text. */
const ID_BYTES = 12
const ID_LENGTH = 16
/** Random bytes for the next ids: to ask for them costs the same for one id and for many. */
const pool = new Uint8Array(ID_BYTES * 256)
let ids = ''
let used = 0

/** A name for the holds of one reservation, different each time. */
export function newHoldId(): string {
  if (used === ids.length) {
    globalThis.crypto.getRandomValues(pool)
    ids =
      Buffer === undefined
        ? base64Url(binaryOf(pool))
        : Buffer.from(pool.buffer).toString('base64url')
    used = 0
  }
  used += ID_LENGTH
  return ids.slice(used - ID_LENGTH, used)
}

function parsed(id: string): ReservationData | undefined {
  const dot = id.indexOf('.')
  if (dot < 1) return undefined
  const text = id.slice(dot + 1)
  const data = text.includes(PART) ? plainParts(text) : encodedParts(text)
  if (!Array.isArray(data)) return undefined
  const [policy, attributes, units, degraded, endsAt] = data as unknown[]
  const isValid =
    typeof policy === 'string' &&
    typeof attributes === 'object' &&
    attributes !== null &&
    Number.isSafeInteger(units) &&
    (units as number) >= 0
  if (!isValid) return undefined
  return {
    hold: id.slice(0, dot),
    policy,
    attributes: attributes as Attributes,
    units: units as number,
    isDegraded: degraded === 1,
    // Ids of earlier versions do not have it.
    endsAt: Number.isSafeInteger(endsAt) ? (endsAt as number) : 0,
  }
}

function plainParts(text: string): unknown {
  const [policy, units, degraded, endsAt, ...rest] = text.split(PART)
  if (endsAt === undefined || rest.length % 2 === 1 || units === '') return undefined
  const pairs: [string, string][] = []
  for (let i = 0; i < rest.length; i += 2) pairs.push([rest[i]!, rest[i + 1]!])
  return [policy, Object.fromEntries(pairs), Number(units), Number(degraded), Number(endsAt)]
}

function encodedParts(text: string): unknown {
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    return JSON.parse(NOT_ASCII.test(binary) ? decoder.decode(bytesOf(binary)) : binary)
  } catch {
    return undefined
  }
}

function encoded(text: string): string {
  if (scratch !== undefined && text.length <= MAX_SCRATCH)
    return scratch.toString('base64url', 0, scratch.write(text))
  return base64Url(NOT_ASCII.test(text) ? binaryOf(encoder.encode(text)) : text)
}

function base64Url(binary: string): string {
  const text = btoa(binary)
  const end = text.indexOf('=')
  return (end < 0 ? text : text.slice(0, end)).replaceAll('+', '-').replaceAll('/', '_')
}

function binaryOf(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}

function bytesOf(binary: string): Uint8Array {
  return Uint8Array.from(binary, (c) => c.charCodeAt(0))
}
