// Requests on the wire: the arguments of the scripts.
import { algorithmOf, ROWS } from '../algorithms/table.ts'
import type { CheckWithState } from '../stores/refusal-cache/cached-count.ts'
import type { Settlement } from '../stores/holds/hold-store.ts'
import type { Check } from '../stores/store.ts'
import { periodAt, type Calendar } from '../time/calendar.ts'
import type { Millis } from '../time/clock.ts'
import type { RefundCheck } from './unconfirmed-refunds.ts'

/** A settlement as a check of its count. */
export interface SettleCheck extends Check {
  readonly settlement: Settlement
}

/** The checks of settlements. */
export function settleChecks(settlements: readonly Settlement[]): readonly SettleCheck[] {
  const checks = new Array<SettleCheck>(settlements.length)
  for (let i = 0; i < settlements.length; i++) {
    const settlement = settlements[i]!
    const { space, key, limit, slowestQuota } = settlement
    checks[i] = { space, key, limit, cost: 0, slowestQuota, holds: true, settlement }
  }
  return checks
}

/** A check as the store sends it: to a server that may drop counts by itself, or a refund that may arrive twice. */
export interface SentCheck extends CheckWithState, RefundCheck {
  /** For `refund` and `reset`: what is left is kept as a trace, so that no process takes the count for dropped. */
  readonly leavesTrace?: boolean
}

/** The checks of a refund or reset on a server that may drop counts: other processes must see that these were not dropped. */
export function withTraces(checks: readonly Check[]): readonly SentCheck[] {
  return checks.map((check) => ({ ...check, leavesTrace: true }))
}

/** What a request has the script do. */
export type Operation = 'take' | 'peek' | 'refund' | 'reset' | 'settle'

const OPERATIONS: Readonly<Record<Operation, string>> = {
  take: '1',
  peek: '2',
  refund: '3',
  reset: '4',
  settle: '5',
}

/** The Lua file that the script of plain takes repeats. */
const PLAIN_LUA = 'bucket'

/**
 * Everything about a request but its keys, and the ids and costs of holds. Requests of one shape share one description on the
 * wire. What is read here of a check, `knownShape` in batch.ts compares.
 */
export interface Shape {
  readonly operation: Operation
  readonly checks: readonly Check[]
  /** The description, as arguments of the script that decides everything. */
  readonly args: readonly string[]
  /** The same for the script of plain takes from buckets; undefined for other requests. */
  readonly plainArgs: readonly string[] | undefined
  /** The same for the script of single plain takes, which follow the deadline; undefined for other requests. */
  readonly singleArgs: readonly string[] | undefined
  /** The same as numbers with commas, for the part of the script that decides single holds on buckets; undefined for other requests. */
  readonly eachNumbers: string | undefined
  /** Whether the part of the script that decides most requests with holds can decide this one. */
  readonly isSimple: boolean
  /** The same of the part that decides most requests on leased buckets, if all checks are on one count. */
  readonly isLease: boolean
  /** Whether a count keeps holds, so that each request has arguments of its own. */
  readonly hasHolds: boolean
  /** Whether the description holds at any time. One with periods of the calendar holds for now. */
  readonly isLasting: boolean
}

/** The shape of a request at an instant. */
export function shapeOf(operation: Operation, checks: readonly Check[], now: Millis): Shape {
  const length = String(checks.length)
  const isPlain = operation === 'take' && checks.every(isPlainTake)
  const isSimple = (operation === 'take' || operation === 'settle') && checks.every(isSimpleCheck)
  return {
    operation,
    checks,
    args: [
      OPERATIONS[operation],
      length,
      ...checks.flatMap((check) => argsOf(operation, check, now)),
    ],
    plainArgs: isPlain ? [length, ...checks.flatMap(plainArgsOf)] : undefined,
    singleArgs: isPlain && checks.length === 1 ? singleArgsOf(checks[0]!) : undefined,
    eachNumbers: isSimple && checks.length === 1 ? eachNumbersOf(operation, checks[0]!) : undefined,
    isSimple,
    isLease: isLeaseRequest(operation, checks),
    hasHolds: checks.some(({ holds }) => holds === true),
    isLasting: checks.every(({ limit }) => limit.calendar === undefined),
  }
}

/** Whether a check takes one unit if there is room for it, on a count with leases: what most requests for the store are. */
export function isUnitPart({ cost, hold, partial, booked }: Check): boolean {
  return partial === true && cost === 1 && hold === undefined && booked !== true
}

/** Adds what only this request says of its holds. */
export function addHoldArgs(args: string[], checks: readonly (Check | SettleCheck)[]): void {
  for (const check of checks) {
    if (check.holds !== true || isUnitPart(check)) continue
    if ('settlement' in check) args.push(check.settlement.id, String(check.settlement.spent))
    else args.push(check.hold?.id ?? '', String(check.cost))
  }
}

/** The length of the ids that {@link Shape.eachNumbers} allow: that of reservations and slots. */
const EACH_LENGTH = 16

/** The id of the hold of the only check of a request; '' when hold-each.lua cannot read the request. */
export function eachId(check: Check | SettleCheck): string {
  const isSettled = 'settlement' in check
  const id = isSettled ? check.settlement.id : (check.hold?.id ?? '')
  return id.length === EACH_LENGTH && (isSettled || check.cost > 0) ? id : ''
}

/** Whether each character of these ids is one byte: the script cuts them by bytes. */
export function areEachIds(ids: string): boolean {
  return !NOT_IN_IDS.test(ids)
}

const NOT_IN_IDS = /[^\w-]/

function argsOf(
  operation: Operation,
  check: SentCheck & Partial<SettleCheck>,
  now: Millis,
): string[] {
  const { limit, cost, shadow, countRefused, candidate, takenAt, lastState, leavesTrace } = check
  const { quota, window, burst } = limit
  let flags = (shadow === true ? 1 : 0) + (countRefused === true ? 2 : 0)
  if (check.holds === true) flags += 8
  else if (lastState !== undefined || leavesTrace === true) flags += 4
  if (candidate === true) flags += 16
  if (limit.calendar !== undefined) flags += 32
  if (limit.lockFor !== undefined) flags += 64
  if (limit.stamps !== undefined) flags += 128
  if (check.isPool === true) flags += 256
  if (check.once !== undefined) flags += 512
  const numbers = [quota, window, burst, slowestOf(check), cost, flags].map(String)
  const row = String(ROWS.indexOf(algorithmOf(limit)) + 1)
  const args = [row, ...numbers, takenAt === undefined ? '' : String(takenAt)]
  if (check.settlement !== undefined) {
    const { life = '', keep, debt = 0 } = check.settlement
    args.push(String(life), String(keep), String(debt), '')
  } else if (check.holds === true) {
    const { life = 0, onEnd, late = 0, fair } = check.hold ?? {}
    const whole = onEnd !== 'spent' ? '0' : fair === true ? '2' : '1'
    const part = isUnitPart(check) ? '5' : check.booked === true ? '4' : '3'
    const atEnd = check.partial === true ? part : whole
    args.push(String(life), atEnd, String(late), String(check.leaseLife ?? ''))
  } else if (lastState !== undefined && (operation === 'take' || operation === 'peek'))
    // A refund of such a take only leaves a trace.
    args.push(String(lastState.at), String(lastState.used), String(lastState.before))
  if (limit.calendar !== undefined)
    for (const edge of periodEdges(limit as Calendar, now)) args.push(String(edge))
  if (limit.lockFor !== undefined)
    args.push(String(limit.lockFor), String(limit.lockGrow), String(limit.lockUpTo))
  if (limit.stamps !== undefined) args.push(String(limit.stamps))
  if (check.once !== undefined) args.push(check.once.id, String(check.once.life))
  return args
}

/** The edges of the period of an instant, of the one before and of the one after, for a server whose clock differs. */
function periodEdges(calendar: Calendar, now: Millis): readonly Millis[] {
  const { start, end } = periodAt(calendar, now)
  return [periodAt(calendar, start - 1).start, start, end, periodAt(calendar, end).end]
}

function isPlainTake({
  limit,
  cost,
  shadow,
  countRefused,
  lastState,
  holds,
  isPool,
}: SentCheck): boolean {
  if (cost === 0 || shadow === true || countRefused === true || lastState !== undefined)
    return false
  if (holds === true || isPool === true) return false
  return algorithmOf(limit).lua === PLAIN_LUA
}

/** The algorithms that take-holds.lua counts by. */
const SIMPLE_LUA: readonly string[] = [PLAIN_LUA, 'fixed-window', 'calendar-window']

function isSimpleCheck(check: SentCheck & Partial<SettleCheck>): boolean {
  const { limit, holds, hold, settlement, shadow, candidate, countRefused } = check
  if (shadow === true || candidate === true || countRefused === true) return false
  if (holds !== true) return isPlainTake(check)
  if (check.leaseLife !== undefined || limit.lockFor !== undefined) return false
  if (settlement === undefined && hold?.onEnd !== 'free') return false
  return SIMPLE_LUA.includes(algorithmOf(limit).lua)
}

function eachNumbersOf(
  operation: Operation,
  check: Check & Partial<SettleCheck>,
): string | undefined {
  const { limit, holds, hold, settlement } = check
  const row = algorithmOf(limit)
  if (holds !== true || row.lua !== PLAIN_LUA || (settlement?.keep ?? 0) > 0) return undefined
  if (settlement === undefined && hold?.isNew !== true) return undefined
  const { quota, window, burst } = limit
  const own = settlement === undefined ? [hold!.life, hold!.late ?? 0] : [settlement.debt ?? 0, 0]
  const numbers = [ROWS.indexOf(row) + 1, quota, window, burst, slowestOf(check), ...own]
  return [OPERATIONS[operation], ...numbers].join(',')
}

/** Whether take-leases.lua knows such a request. */
function isLeaseRequest(
  operation: Operation,
  checks: readonly (SentCheck & Partial<SettleCheck>)[],
): boolean {
  if (operation === 'take') {
    const isSingle = checks.length === 1
    return checks.every((check) => isLeaseTake(check, checks[0]!, isSingle))
  }
  if (operation !== 'settle' || checks.length !== 1) return false
  const [{ limit, settlement }] = checks as [SettleCheck]
  const { life, debt = 0 } = settlement
  return life === undefined && debt === 0 && algorithmOf(limit).lua === PLAIN_LUA
}

function isLeaseTake(check: SentCheck, first: SentCheck, isSingle: boolean): boolean {
  const { limit, holds, hold, shadow, candidate, countRefused, partial, booked } = check
  if (holds !== true || candidate === true || countRefused === true || booked === true) return false
  if (limit !== first.limit || limit.lockFor !== undefined) return false
  const isLease = hold?.onEnd === 'spent' && hold.fair === true && (hold.late ?? 0) === 0
  const isWhole = hold === undefined && partial !== true && isSingle && check.isPool !== true
  const isPart = (isLease || (hold === undefined && partial === true)) && shadow === true
  return (isWhole || isPart) && algorithmOf(limit).lua === PLAIN_LUA
}

function plainArgsOf(check: Check): string[] {
  const { quota, window, burst } = check.limit
  return [quota, window, burst * window, check.cost * window, slowestOf(check)].map(String)
}

/** Up to the last argument that the script would not assume by itself: a client encodes each one again for every call. */
function singleArgsOf(check: Check): string[] {
  const { quota, window, burst } = check.limit
  const args = [
    String(quota),
    String(window),
    burst === quota ? '' : String(burst * window),
    check.cost === 1 ? '' : String(check.cost * window),
    slowestOf(check) === quota ? '' : String(slowestOf(check)),
  ]
  while (args.at(-1) === '') args.pop()
  return args
}

/** The smallest quota of the limits that share the count: it decides how long the count is kept. */
function slowestOf({ limit: { quota }, slowestQuota = quota }: Check): number {
  return quota === 0 ? slowestQuota : Math.min(quota, slowestQuota)
}
