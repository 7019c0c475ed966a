// Whether a recorded history of one count could have happened one operation after the other, by the algorithm itself.
import { algorithmOf } from '../src/algorithms/table.ts'
import type { State } from '../src/algorithms/algorithm.ts'
import type { Limit } from '../src/limit/limit.ts'
import type { Millis } from '../src/time/clock.ts'

/** One call: what was asked, when it began and ended, and what was answered. */
export interface Operation {
  readonly kind: 'take' | 'peek' | 'refund' | 'reset'
  readonly cost: number
  /** Any clock that is the same for all clients. */
  readonly began: number
  /** Infinity for a call without an answer: it may have acted at any time since, or never. */
  readonly ended: number
  readonly allowed?: boolean | undefined
  readonly remaining?: number | undefined
}

/**
 * Searches an order in which every answer is what the algorithm gives at one instant, and in which no operation comes
 * before one that had ended when it began (Wing and Gong's search, with the states that it has seen). The history has
 * at most 30 operations.
 */
export function isLinearisable(history: readonly Operation[], limit: Limit, now: Millis): boolean {
  const seen = new Set<string>()
  const search = (done: number, state: State | undefined): boolean => {
    const left = history.filter((_, i) => (done & (1 << i)) === 0)
    if (left.every(({ ended }) => ended === Infinity)) return true
    const place = `${done} ${JSON.stringify(state)}`
    if (seen.has(place)) return false
    seen.add(place)
    const firstEnd = Math.min(...left.map(({ ended }) => ended))
    for (const [i, operation] of history.entries()) {
      if ((done & (1 << i)) !== 0 || operation.began > firstEnd) continue
      for (const next of outcomes(operation, state, limit, now))
        if (search(done | (1 << i), next)) return true
    }
    return false
  }
  return search(0, undefined)
}

/** The states after an operation, if its answer fits the state before; none if it does not. */
function outcomes(
  { kind, cost, allowed, remaining, ended }: Operation,
  before: State | undefined,
  limit: Limit,
  now: Millis,
): readonly (State | undefined)[] {
  const algorithm = algorithmOf(limit)
  const state = before === undefined ? algorithm.fresh(limit, now) : { ...before }
  const isAnswered = ended !== Infinity
  if (kind === 'reset') return [undefined]
  if (kind === 'refund') {
    // A refund that finds nothing leaves nothing.
    if (before === undefined) return [undefined]
    algorithm.take(limit, state, 0, now)
    algorithm.refund(limit, state, cost, now, now)
    return [state]
  }
  const isTaken = algorithm.take(limit, state, kind === 'peek' ? 0 : cost, now)
  if (!isAnswered) return [isTaken ? state : before]
  if (kind === 'peek') return algorithm.remaining(limit, state, now) === remaining ? [before] : []
  return isTaken === allowed ? [isTaken ? state : before] : []
}
