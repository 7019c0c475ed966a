// A gate over one count of a store.
import { joinWithLengths } from '../key/key.ts'
import type { Limit } from '../limit/limit.ts'
import type { Check, MaybePromise, Store } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import type { Gate, GateAnswer } from './gate.ts'

/** A gate at one key of a store. Limits with another algorithm or window have counts of their own, as in limiters. */
export function storeGate(store: Store, limit: Limit, key: string): Gate {
  const space = joinWithLengths(['paced', limit.algorithm, String(limit.window)])
  const check = (cost: number): Check => ({ space, key, limit, cost })
  return {
    take(cost): MaybePromise<GateAnswer> {
      const verdicts = store.take([check(cost)])
      return 'then' in verdicts ? verdicts.then(([verdict]) => verdict!) : verdicts[0]!
    },
    refund: (cost, takenAt) => store.refund([{ ...check(cost), takenAt }]),
    leastWait: (headCost, units) => leastWait(limit, headCost, units),
  }
}

/**
 * A lower bound for every algorithm, and exact for buckets: when the head passes after a wait, the bucket is
 * empty and gains quota units per window. Windows free a whole quota at once. The sliding window is an estimate
 * that may be one window early.
 */
function leastWait({ algorithm, quota, window }: Limit, headCost: number, units: number): Millis {
  if (algorithm === 'token-bucket' || algorithm === 'gcra')
    return Math.floor((units * window) / quota)
  const windows = Math.floor((headCost + units - 1) / quota)
  return Math.max(0, algorithm === 'sliding-window' ? windows - 1 : windows) * window
}
