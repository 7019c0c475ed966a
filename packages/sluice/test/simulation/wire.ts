// The scripts' arguments, read back: what a simulated server is asked to do.
import type { AlgorithmRow, LimitNumbers, State } from '../../src/algorithms/algorithm.ts'
import { ROWS } from '../../src/algorithms/table.ts'
import { TAKE_BUCKETS, TAKE_EACH } from '../../src/redis/script.generated.ts'
import type { Millis } from '../../src/time/clock.ts'

/** One check of a request, with the name of its count. */
export interface WireCheck {
  readonly name: string
  readonly algorithm: AlgorithmRow
  readonly limit: LimitNumbers
  readonly cost: number
  readonly takenAt: Millis | undefined
  /** The last state that the caller knows, for a count that the server may have dropped. */
  readonly lastState: State | undefined
  readonly leavesTrace: boolean
  /** The id of a refund that may arrive twice. */
  readonly once: string | undefined
}

export interface WireRequest {
  readonly operation: 'take' | 'peek' | 'refund' | 'reset'
  readonly checks: readonly WireCheck[]
}

/** One call of a script. */
export interface WireCall {
  /** The last server time at which it may act; 0 for any. */
  readonly latest: Millis
  readonly isPlain: boolean
  readonly requests: readonly WireRequest[]
}

type Unnamed = Omit<WireCheck, 'name'>

interface WireShape {
  readonly operation: WireRequest['operation']
  readonly checks: readonly Unnamed[]
}

const OPERATIONS = ['take', 'peek', 'refund', 'reset'] as const

/** Reads a call as the scripts do. */
export function readCall(
  hash: string,
  names: readonly string[],
  args: readonly string[],
): WireCall {
  if (hash === TAKE_EACH.hash) {
    const checks = [singleCheck(args)]
    const requests = names.map((name): WireRequest => {
      return { operation: 'take', checks: checks.map((check) => ({ ...check, name })) }
    })
    return { latest: Number(args[0]), isPlain: true, requests }
  }
  const isPlain = hash === TAKE_BUCKETS.hash
  const numbers: number[] = []
  const shapes = isPlain ? plainShapes(args) : allShapes(args)
  for (const char of args[isPlain ? 2 : 4]!) numbers.push(char.charCodeAt(0) - 48)
  const requests: WireRequest[] = []
  let next = 0
  for (let i = 0; next < names.length; i++) {
    const { operation, checks } = shapes[(numbers[i] ?? 1) - 1]!
    requests.push({
      operation,
      checks: checks.map((check) => ({ ...check, name: names[next++]! })),
    })
  }
  return { latest: Number(args[1]), isPlain, requests }
}

/** The check of take-each.lua, which assumes what is not said. */
function singleCheck(args: readonly string[]): Unnamed {
  const [quota, window] = args.slice(1, 3).map(Number) as [number, number]
  const full = Number(args[3] || quota * window)
  const more = Number(args[4] || window)
  return plainCheck(quota, window, full, more)
}

function plainCheck(quota: number, window: number, full: number, more: number): Unnamed {
  return {
    algorithm: ROWS[0]!,
    limit: { quota, window, burst: full / window },
    cost: more / window,
    takenAt: undefined,
    lastState: undefined,
    leavesTrace: false,
    once: undefined,
  }
}

function plainShapes(args: readonly string[]): WireShape[] {
  const shapes: WireShape[] = []
  for (let at = 3; at < args.length;) {
    const count = Number(args[at++])
    const checks = Array.from({ length: count }, (): Unnamed => {
      const [quota, window, full, more] = args.slice(at, at + 4).map(Number) as [
        number,
        number,
        number,
        number,
      ]
      at += 5
      return plainCheck(quota, window, full, more)
    })
    shapes.push({ operation: 'take', checks })
  }
  return shapes
}

function allShapes(args: readonly string[]): WireShape[] {
  let at = 5
  return Array.from({ length: Number(args[2]) }, (): WireShape => {
    const operation = OPERATIONS[Number(args[at++]) - 1]
    if (operation === undefined) throw new Error('the simulated server keeps no holds')
    const count = Number(args[at++])
    const checks = Array.from({ length: count }, () => {
      const [row, quota, window, burst, , cost, flags] = args.slice(at, at + 7).map(Number)
      const takenAt = args[at + 7] === '' ? undefined : Number(args[at + 7])
      at += 8
      const traces = (flags! & 4) !== 0
      let lastState: State | undefined
      if (traces && (operation === 'take' || operation === 'peek')) {
        const [known, used, before] = args.slice(at, at + 3).map(Number)
        lastState = { at: known!, used: used!, before: before! }
        at += 3
      }
      let once: string | undefined
      if ((flags! & 512) !== 0) {
        once = args[at]
        at += 2
      }
      if ((flags! & ~516) !== 0) throw new Error(`the simulated server knows no flags ${flags}`)
      return {
        algorithm: ROWS[row! - 1]!,
        limit: { quota: quota!, window: window!, burst: burst! },
        cost: cost!,
        takenAt,
        lastState,
        leavesTrace: traces && lastState === undefined,
        once,
      }
    })
    return { operation, checks }
  })
}
