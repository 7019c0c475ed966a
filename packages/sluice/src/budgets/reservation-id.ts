// The id of a reservation: it says all that settling needs, so that any process with the policy can settle it.
import { SluiceError } from '../errors.ts'
import type { Attributes } from '../policy/policy.ts'
import type { Millis } from '../time/clock.ts'

// Made once: making one costs more than using it.
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

/** The longest id, in characters. */
const MAX_LENGTH = 8192

const NOT_AN_ID = 'the id is not that of a reservation; pass the id that reserve returned'

/** What an id says. */
export interface ReservationData {
  /** The id of the holds in the store. */
  readonly hold: string
  readonly policy: string
  readonly attributes: Attributes
  /** Units that were reserved; of a slot 0. */
  readonly units: number
  /** Whether the store could not answer: then nothing is held there. */
  readonly isDegraded: boolean
  /** When the first hold ends unless it is extended, by the store's clock; 0 when it is not known. */
  readonly endsAt: Millis
}

/** Writes an id. It holds the attributes in readable form. */
export function writeId(data: ReservationData): string {
  const { hold, policy, attributes, units, isDegraded, endsAt } = data
  const text = JSON.stringify([policy, attributes, units, isDegraded ? 1 : 0, endsAt])
  return `${hold}.${toBase64Url(encoder.encode(text))}`
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

/** Random bytes in one id. */
const ID_BYTES = 12
/** Random bytes for the next ids: to ask for them costs the same for one id and for many. */
const pool = new Uint8Array(ID_BYTES * 64)
let used = pool.length

/** A name for the holds of one reservation, different each time. */
export function newHoldId(): string {
  if (used === pool.length) {
    globalThis.crypto.getRandomValues(pool)
    used = 0
  }
  used += ID_BYTES
  return toBase64Url(pool.subarray(used - ID_BYTES, used))
}

function parsed(id: string): ReservationData | undefined {
  const dot = id.indexOf('.')
  if (dot < 1) return undefined
  try {
    const bytes = Uint8Array.from(fromBase64Url(id.slice(dot + 1)), (c) => c.charCodeAt(0))
    const data: unknown = JSON.parse(decoder.decode(bytes))
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
  } catch {
    return undefined
  }
}

function toBase64Url(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function fromBase64Url(text: string): string {
  return atob(text.replaceAll('-', '+').replaceAll('_', '/'))
}
