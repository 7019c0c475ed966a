// Reads the answers of the scripts.
import { show, SluiceError } from '../errors.ts'
import { algorithmOf } from '../algorithms/table.ts'
import { LazyVerdict } from '../limit/take.ts'
import type { Verdict } from '../limit/verdict.ts'
import type { Check } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import { isUnitPart, type SettleCheck, type Shape } from './shape.ts'
import type { HeldNumbers } from '../stores/holds/held-count.ts'
import {
  HeldLogVerdict,
  HeldVerdict,
  settledOf,
  type LogInstants,
} from '../stores/holds/held-verdict.ts'
import type { Settled, SettledStatus, Settlement } from '../stores/holds/hold-store.ts'
import type { Limit } from '../limit/limit.ts'

/** A script's numbers, read one after the other. */
export interface Reply {
  readonly values: readonly unknown[]
  next: number
  /** When the server decided. */
  now: Millis
  /** Whether the script of plain takes answered, which returns fewer numbers. */
  readonly isPlain: boolean
  /** Whether hold-each.lua answers the next request, which returns fewer numbers. */
  isEach: boolean
}

/** From here on the rest of the script answers. */
const BY_FULL_SCRIPT = -9

/** The verdicts of a take or peek, the answers to settlements, or the server's error as a string. */
export function answerOf(
  { operation }: Shape,
  checks: readonly (Check | SettleCheck)[],
  reply: Reply,
): readonly Verdict[] | readonly Settled[] | string {
  const { values } = reply
  if (reply.isEach && Number(values[reply.next]) === BY_FULL_SCRIPT) {
    reply.isEach = false
    reply.next += 1
  }
  const { next } = reply
  // Clients can be configured to return numbers as strings, or strings as bytes: only an error is no number at all.
  const first = values[next]
  if (typeof first !== 'number' && next < values.length && Number.isNaN(Number(first))) {
    reply.next += 1
    return String(first)
  }
  if (operation === 'refund' || operation === 'reset') return []
  if (operation === 'settle') {
    const read = reply.isEach ? readEachSettled : readSettled
    return checks.map((check) => read((check as SettleCheck).settlement, reply))
  }
  if (reply.isEach) return [eachVerdict(checks[0]!, reply)]
  const read = reply.isPlain ? plainVerdict : verdictOf
  const verdicts = new Array<Verdict>(checks.length)
  for (let i = 0; i < checks.length; i++) verdicts[i] = read(checks[i]!, reply)
  return verdicts
}

/** The next number of a reply. Throws if it is none of the script's, which are all whole. */
export function numberFrom(reply: Reply): number {
  const value = reply.values[reply.next++]
  // Clients can be configured to return numbers as strings or bytes.
  const isText = typeof value === 'string' || value instanceof Uint8Array
  const number = isText ? Number(String(value) || Number.NaN) : value
  if (Number.isSafeInteger(number)) return number as number
  throw misread(value)
}

/** The error of a reply that the script did not make: a proxy may answer, or the reply may belong to another call. */
export function misread(value: unknown): SluiceError {
  return new SluiceError('store-failed', `Redis answered ${show(value)}, which is no decision`)
}

/** The script's answer to a check. */
const REFUSED = 0
const PEEKED = 2

/** The server decides and returns the state; the numbers that follow from it are computed here, when read. */
function verdictOf(check: Check, reply: Reply): Verdict {
  const { limit, cost } = check
  const { words } = algorithmOf(limit)
  if (check.holds === true) return heldVerdict(check, reply)
  if (words === 0) return logVerdict(check, reply)
  const answer = numberFrom(reply)
  const at = reply.now - numberFrom(reply)
  const used = numberFrom(reply)
  const before = words === 3 ? numberFrom(reply) : 0
  const state = { at, used, before }
  return new LazyVerdict(
    limit,
    state,
    cost,
    reply.now,
    answer !== REFUSED,
    answer !== PEEKED,
    'store',
  )
}

/** One number when the cost was taken and the state is of this instant; else the answer, as -1 - answer, age and use. */
function plainVerdict({ limit, cost }: Check, reply: Reply): Verdict {
  const { now } = reply
  const first = numberFrom(reply)
  if (first >= 0)
    return new LazyVerdict(
      limit,
      { at: now, used: first, before: 0 },
      cost,
      now,
      true,
      true,
      'store',
    )
  const answer = -1 - first
  const at = now - numberFrom(reply)
  const used = numberFrom(reply)
  const state = { at, used, before: 0 }
  return new LazyVerdict(limit, state, cost, now, answer !== REFUSED, answer !== PEEKED, 'store')
}

function logVerdict({ limit, cost }: Check, reply: Reply): Verdict {
  const { now } = reply
  const allowed = numberFrom(reply) !== REFUSED
  const used = numberFrom(reply)
  const fullAt = numberFrom(reply)
  const freeAt = numberFrom(reply)
  const availableAt = numberFrom(reply)
  const remaining = Math.max(0, limit.quota - used)
  return {
    allowed,
    remaining,
    retryAfter: allowed ? 0 : cost > limit.quota ? null : freeAt - now,
    resetAfter: fullAt - now,
    availableAfter: remaining >= limit.quota ? 0 : availableAt - now,
    delay: 0,
    at: now,
    source: 'store',
  }
}

function heldVerdict(check: Check, reply: Reply): Verdict {
  const { limit, cost, hold, partial } = check
  let answer = numberFrom(reply)
  if (isUnitPart(check)) {
    if (answer >= 0) return unitVerdict(check, answer, reply.now)
    answer = numberFrom(reply)
  }
  const numbers = readNumbers(limit, reply)
  const instants = algorithmOf(limit).words === 0 ? readInstants(reply) : undefined
  const held = hold?.fair === true || partial === true ? numberFrom(reply) : undefined
  const allowed = answer !== REFUSED
  return instants === undefined
    ? new HeldVerdict(limit, numbers, cost, reply.now, allowed, 'store', held)
    : new HeldLogVerdict(instants, limit, numbers, cost, reply.now, allowed, 'store', held)
}

/** One unit was taken, nothing is out, and this much is used now. */
function unitVerdict({ limit }: Check, used: number, now: Millis): Verdict {
  const state = { at: now, used, before: 0 }
  const numbers = { state, out: 0, leased: 0, nextEnd: 0, lastEnd: 0 }
  return new HeldVerdict(limit, numbers, 1, now, true, 'store', 1)
}

function readInstants(reply: Reply): LogInstants {
  const fullAt = numberFrom(reply)
  const freeAt = numberFrom(reply)
  return { fullAt, freeAt, availableAt: numberFrom(reply) }
}

const STATUSES: readonly SettledStatus[] = ['unknown', 'settled', 'late', 'repeated']

/** Added to the status when units stay out. */
const STAYS_OUT = 4

function readSettled({ limit, spent }: Settlement, reply: Reply): Settled {
  const first = numberFrom(reply)
  const status = STATUSES[first % STAYS_OUT]!
  const charged = numberFrom(reply)
  const kept = first >= STAYS_OUT ? numberFrom(reply) : 0
  const endsAt = kept > 0 ? reply.now + numberFrom(reply) : 0
  const numbers = readNumbers(limit, reply)
  return settledOf(limit, numbers, { status, charged, kept, endsAt }, spent, reply.now)
}

/** The hold was taken, unless the first number is -1. */
function eachVerdict({ limit, cost, hold }: Check, reply: Reply): Verdict {
  const { now } = reply
  const first = numberFrom(reply)
  const isTaken = first !== -1
  const numbers = isTaken ? numbersNow(first, cost, hold!.life, reply) : numbersWithAge(reply)
  return new HeldVerdict(limit, numbers, cost, now, isTaken, 'store')
}

/** All was charged, unless the first number is -1 - status; then what was charged follows. */
function readEachSettled({ limit, spent }: Settlement, reply: Reply): Settled {
  const { now } = reply
  const first = numberFrom(reply)
  if (first >= 0 || first <= OTHERS_OUT) {
    const numbers = numbersNow(first, 0, 0, reply)
    const booked = { status: 'settled', charged: spent, kept: 0, endsAt: 0 } as const
    return settledOf(limit, numbers, booked, spent, now)
  }
  const status = STATUSES[-1 - first]!
  const charged = numberFrom(reply)
  const numbers = numbersWithAge(reply)
  return settledOf(limit, numbers, { status, charged, kept: 0, endsAt: 0 }, spent, now)
}

/** From here down: less the units that are out, where others are out too. */
const OTHERS_OUT = -10

/** The numbers of a bucket at this instant, which had `out` units go out for `life`. */
function numbersNow(first: number, out: number, life: Millis, reply: Reply): HeldNumbers {
  const { now } = reply
  if (first < 0) return bucketNumbers(now, numberFrom(reply), OTHERS_OUT - first, reply)
  const end = out === 0 ? 0 : now + life
  return { state: { at: now, used: first, before: 0 }, out, leased: 0, nextEnd: end, lastEnd: end }
}

/** The numbers of a bucket whose use and units out are known. */
function bucketNumbers(at: Millis, used: number, out: number, reply: Reply): HeldNumbers {
  const { now } = reply
  const state = { at, used, before: 0 }
  if (out === 0) return { state, out, leased: 0, nextEnd: 0, lastEnd: 0 }
  const nextEnd = now + numberFrom(reply)
  return { state, out, leased: 0, nextEnd, lastEnd: now + numberFrom(reply) }
}

function numbersWithAge(reply: Reply): HeldNumbers {
  const at = reply.now - numberFrom(reply)
  const used = numberFrom(reply)
  return bucketNumbers(at, used, numberFrom(reply), reply)
}

function readNumbers(limit: Limit, reply: Reply): HeldNumbers {
  const { now } = reply
  const at = now - numberFrom(reply)
  const used = numberFrom(reply)
  const before = algorithmOf(limit).words === 3 ? numberFrom(reply) : 0
  const state = { at, used, before }
  const out = numberFrom(reply)
  if (out === 0) return { state, out, leased: 0, nextEnd: 0, lastEnd: 0 }
  const leased = numberFrom(reply)
  const nextEnd = now + numberFrom(reply)
  const lastEnd = now + numberFrom(reply)
  return { state, out, leased, nextEnd, lastEnd }
}
