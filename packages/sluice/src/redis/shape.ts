// Requests on the wire: the arguments of the scripts.
import type { State } from '../algorithms/algorithm.ts'
import { algorithmOf, ALGORITHMS } from '../algorithms/table.ts'
import type { Check } from '../stores/store.ts'

/** A check to a server that may drop counts by itself. */
export interface RemindingCheck extends Check {
  /** For `take`: what the count was when it was last seen, spent; it holds if the server has dropped it. */
  readonly known?: State
  /** For `refund` and `reset`: what is left lives on as a trace, or others would take it for dropped. */
  readonly leavesTrace?: boolean
}

/** The checks of a give or reset on a server that may drop counts: others must see that these were not dropped. */
export function traced(checks: readonly Check[]): readonly RemindingCheck[] {
  return checks.map((check) => ({ ...check, leavesTrace: true }))
}

/** What a request asks of the script. */
export type Operation = 'take' | 'peek' | 'refund' | 'reset'

const OPERATIONS: Readonly<Record<Operation, string>> = {
  take: '1',
  peek: '2',
  refund: '3',
  reset: '4',
}

/** The Lua file that the script of plain takes repeats. */
const PLAIN_LUA = 'bucket'

/** Everything about a request but its keys. Requests of one shape share one description on the wire. */
export interface Shape {
  readonly operation: Operation
  readonly checks: readonly Check[]
  /** The description, as arguments of the script that decides everything. */
  readonly args: readonly string[]
  /** The same for the script of plain takes from buckets; undefined when this is none. */
  readonly plainArgs: readonly string[] | undefined
}

/** The shape of a request. */
export function shapeOf(operation: Operation, checks: readonly Check[]): Shape {
  const length = String(checks.length)
  const isPlain = operation === 'take' && checks.every(isPlainTake)
  return {
    operation,
    checks,
    args: [OPERATIONS[operation], length, ...checks.flatMap(argsOf)],
    plainArgs: isPlain ? [length, ...checks.flatMap(plainArgsOf)] : undefined,
  }
}

/** The newest of some shapes that a request has. */
export function knownShape(
  shapes: readonly Shape[],
  operation: Operation,
  checks: readonly Check[],
): Shape | undefined {
  for (let i = shapes.length - 1; i >= 0; i--) {
    if (hasShape(shapes[i]!, operation, checks)) return shapes[i]
  }
  return undefined
}

function hasShape(shape: Shape, operation: Operation, checks: readonly Check[]): boolean {
  if (shape.operation !== operation || shape.checks.length !== checks.length) return false
  for (let i = 0; i < checks.length; i++) {
    if (!isAlike(checks[i]!, shape.checks[i]!)) return false
  }
  return true
}

function isAlike(a: RemindingCheck, b: RemindingCheck): boolean {
  return (
    a.limit === b.limit &&
    a.known === b.known &&
    a.cost === b.cost &&
    a.takenAt === b.takenAt &&
    a.leavesTrace === b.leavesTrace &&
    (a.shadow ?? false) === (b.shadow ?? false) &&
    (a.countRefused ?? false) === (b.countRefused ?? false)
  )
}

function argsOf(check: RemindingCheck): string[] {
  const { limit, cost, shadow, countRefused, takenAt, known, leavesTrace } = check
  const { algorithm, quota, window, burst } = limit
  let flags = (shadow === true ? 1 : 0) + (countRefused === true ? 2 : 0)
  if (known !== undefined || leavesTrace === true) flags += 4
  const numbers = [quota, window, burst, slowestOf(check), cost, flags].map(String)
  const row = String(ALGORITHMS.indexOf(algorithm) + 1)
  const args = [row, ...numbers, takenAt === undefined ? '' : String(takenAt)]
  if (known !== undefined) args.push(...[known.at, known.used, known.before].map(String))
  return args
}

function isPlainTake({ limit, cost, shadow, countRefused, known }: RemindingCheck): boolean {
  if (cost === 0 || shadow === true || countRefused === true || known !== undefined) return false
  return algorithmOf(limit).lua === PLAIN_LUA
}

function plainArgsOf(check: Check): string[] {
  const { quota, window, burst } = check.limit
  return [quota, window, burst * window, check.cost * window, slowestOf(check)].map(String)
}

/** The smallest quota of the limits that share the count: it decides how long the count is kept. */
function slowestOf({ limit }: Check): number {
  return limit.quota
}
