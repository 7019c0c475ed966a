// Requests on the wire: what the script is told, and what its numbers mean.
import { Taken } from '../algorithms/take.ts'
import type { AlgorithmName } from '../limit/limit.ts'
import type { Verdict } from '../limit/verdict.ts'
import type { Check } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'

/** What a request asks of the script. */
export type Operation = 'take' | 'peek' | 'give' | 'reset'

const OPERATIONS: Readonly<Record<Operation, string>> = {
  take: '1',
  peek: '2',
  give: '3',
  reset: '4',
}

const ALGORITHMS: Readonly<Record<AlgorithmName, string>> = {
  'token-bucket': '1',
  gcra: '2',
  'leaky-bucket': '3',
  'fixed-window': '4',
  'sliding-window': '5',
  'sliding-log': '6',
}

/** Everything about a request but its keys. Requests of one shape share one description on the wire. */
export interface Shape {
  readonly operation: Operation
  readonly checks: readonly Check[]
  /** The description, as script arguments. */
  readonly args: readonly string[]
}

/** The shape of a request. */
export function shapeOf(operation: Operation, checks: readonly Check[]): Shape {
  const args = [OPERATIONS[operation], String(checks.length), ...checks.flatMap(argsOf)]
  return { operation, checks, args }
}

/** Whether a request has this shape. */
export function hasShape(shape: Shape, operation: Operation, checks: readonly Check[]): boolean {
  if (shape.operation !== operation || shape.checks.length !== checks.length) return false
  for (let i = 0; i < checks.length; i++) {
    if (!isAlike(checks[i]!, shape.checks[i]!)) return false
  }
  return true
}

function isAlike(a: Check, b: Check): boolean {
  return (
    a.limit === b.limit &&
    a.cost === b.cost &&
    a.takenAt === b.takenAt &&
    (a.shadow ?? false) === (b.shadow ?? false) &&
    (a.countRefused ?? false) === (b.countRefused ?? false)
  )
}

function argsOf({ limit, cost, shadow, countRefused, takenAt }: Check): string[] {
  const flags = (shadow === true ? 1 : 0) + (countRefused === true ? 2 : 0)
  const { algorithm, quota, window, burst } = limit
  const numbers = [quota, window, burst, cost, flags].map(String)
  return [ALGORITHMS[algorithm], ...numbers, takenAt === undefined ? '' : String(takenAt)]
}

/** The script's numbers, read one after the other. */
export interface Reply {
  readonly values: readonly unknown[]
  next: number
  readonly now: Millis
}

/** The verdicts of a take or peek, or the server's error as text. */
export function verdictsOf(
  { operation, checks }: Shape,
  reply: Reply,
): readonly Verdict[] | string {
  const { values, next } = reply
  // Some clients give numbers as text, or texts as bytes, when told so: only an error is no number at all.
  const first = values[next]
  if (typeof first !== 'number' && next < values.length && Number.isNaN(Number(first))) {
    reply.next += 1
    return String(first)
  }
  if (operation === 'give' || operation === 'reset') return []
  const verdicts: Verdict[] = []
  for (const check of checks) verdicts.push(verdictOf(check, reply))
  return verdicts
}

function numberFrom(reply: Reply): number {
  return Number(reply.values[reply.next++])
}

/** What the script says of a check. */
const REFUSED = 0
const LOOKED_AT = 2

/** The server decides and says what the state is; what follows from it is worked out here, when asked. */
function verdictOf(check: Check, reply: Reply): Verdict {
  const { limit, cost } = check
  if (limit.algorithm === 'sliding-log') return logVerdict(check, reply)
  const answer = numberFrom(reply)
  const at = reply.now - numberFrom(reply)
  const used = numberFrom(reply)
  const before = limit.algorithm === 'sliding-window' ? numberFrom(reply) : 0
  return new Taken(
    limit,
    { at, used, before },
    cost,
    reply.now,
    answer !== REFUSED,
    answer !== LOOKED_AT,
  )
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
  }
}
