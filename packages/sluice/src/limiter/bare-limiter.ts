// The shortest path of all: one limit, a key given as text, a store that answers at once.
import { DecidedAtOnce } from '../decision/decided-by-one.ts'
import type { Decision } from '../decision/decision.ts'
import { beginsAsHash } from '../key/key.ts'
import type { Attributes } from '../policy/policy.ts'
import type { FastPath, TakeOutput, MaybePromise, SyncStore } from '../stores/store.ts'
import { asked, isBare, RuleLimiter, type Asked } from './rule-limiter.ts'

type Parts = ConstructorParameters<typeof RuleLimiter>

/** A limiter by compiled rules, by the shortest path that they and the store allow. */
export function ruleLimiter(...parts: Parts): RuleLimiter {
  const [rules, store, , hashKeys] = parts
  const [only] = rules
  const isOne = rules.length === 1 && only !== undefined && isBare(only) && !only.countRefused
  if (isOne && !hashKeys && store.sync === true) {
    const { space, limit } = only.base
    const counts = (store as SyncStore).fastPath?.(space, limit)
    if (counts !== undefined) return new BareLimiter(asked(only, '', 1), counts, parts)
  }
  return new RuleLimiter(...parts)
}

/** Decides by the only rule when the store knows the key; leaves all other questions to {@link RuleLimiter}. */
class BareLimiter extends RuleLimiter {
  private readonly one: Asked
  private counts: FastPath | null
  /** What the last decision left; fractions, so that V8 keeps its numbers in place from the start. */
  private readonly left: TakeOutput = { now: 0.5, at: 0.5, used: 0.5, before: 0.5 }

  constructor(one: Asked, counts: FastPath, parts: Parts) {
    super(...parts)
    this.one = one
    this.counts = counts
    this.left.before = 0
  }

  override check(attributes: Attributes | string, cost = 1): MaybePromise<Decision> {
    const { counts, left } = this
    // A key that the store knows stands for itself, unless it is a hash; then only its value may ask for it.
    if (
      counts !== null &&
      cost === 1 &&
      typeof attributes === 'string' &&
      !beginsAsHash(attributes)
    ) {
      const allowed = counts.takeExisting(attributes, left)
      if (allowed !== undefined) return new DecidedAtOnce(allowed, this.one, left)
    }
    return super.check(attributes, cost)
  }

  override close(): MaybePromise<void> {
    this.counts = null
    return super.close()
  }
}
