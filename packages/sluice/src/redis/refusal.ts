// What one refused request has taught: what its counts hold, and how they go on without traffic.
import type { State } from '../algorithms/algorithm.ts'
import { algorithmOf } from '../algorithms/table.ts'
import { peekBy, LazyVerdict } from '../limit/take.ts'
import type { Limit } from '../limit/limit.ts'
import type { Verdict } from '../limit/verdict.ts'
import type { Check, KnownRefusal } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'

/** One check of the request, and what the store said of it. */
interface Known {
  readonly space: string
  readonly key: string
  readonly limit: Limit
  readonly cost: number
  readonly isShadow: boolean
  readonly verdict: Verdict
  /** Undefined for a log, of which only the verdict is told. */
  readonly state: State | undefined
}

/** When a request was sent and answered, by our own clock. */
export interface Journey {
  /** How often counts had gone down by our own doing before it was sent. */
  readonly era: number
  readonly sentAt: Millis
  readonly answeredAt: Millis
}

/**
 * A refusal by the store, remembered. The instant of its decision lies somewhere between sending and answer. It
 * is taken for the earliest when we ask whether the refusal still holds, so that nobody is refused for longer
 * than by the store; and for the latest in the waits that we tell, so that nobody comes back too early.
 */
export class Refusal {
  readonly sentAt: Millis
  readonly era: number
  private readonly answeredAt: Millis
  private readonly known: readonly Known[]

  constructor(checks: readonly Check[], verdicts: readonly Verdict[], journey: Journey) {
    this.sentAt = journey.sentAt
    this.era = journey.era
    this.answeredAt = journey.answeredAt
    this.known = checks.map(({ space, key, limit, cost, shadow = false }, i) => {
      const verdict = verdicts[i]!
      const state = verdict instanceof LazyVerdict ? verdict.next : undefined
      return { space, key, limit, cost, isShadow: shadow, verdict, state }
    })
  }

  /** Whether the request is of the same counts and limits; only costs may differ. */
  isAbout(checks: readonly Check[]): boolean {
    const { known } = this
    if (checks.length !== known.length) return false
    for (let i = 0; i < checks.length; i++) {
      const { space, key, limit, isShadow } = known[i]!
      const check = checks[i]!
      if (check.key !== key || check.space !== space || check.limit !== limit) return false
      if ((check.shadow ?? false) !== isShadow) return false
    }
    return true
  }

  /** Whether a check with a say, of a count that is still known, would be refused by the store, if nothing but time has passed. */
  holds(checks: readonly Check[], now: Millis, isKnown: (check: Check) => boolean): boolean {
    return checks.some((check, i) => {
      if (check.shadow === true || !isKnown(check)) return false
      const known = this.known[i]!
      return refusesAt(known, check.cost, this.latest(known, now))
    })
  }

  /** The verdicts now, if nothing but time has passed; undefined when too little is known of a count. */
  verdicts(checks: readonly Check[], now: Millis): readonly Verdict[] | undefined {
    const verdicts: Verdict[] = []
    for (const [i, { cost }] of checks.entries()) {
      const known = this.known[i]!
      const verdict = agedVerdict(known, cost, this.earliest(known, now))
      if (verdict === undefined) return undefined
      verdicts.push(verdict)
    }
    return verdicts
  }

  /** The verdict on one of its counts now, by the limit that refused. */
  verdictOn({ space, key, cost }: Check, now: Millis): KnownRefusal | undefined {
    const known = this.known.find((one) => one.key === key && one.space === space)
    if (known === undefined) return undefined
    // While it refuses by the latest that the server's time may be, the waits are those of the earliest.
    const isRefused = refusesAt(known, cost, this.latest(known, now))
    const at = isRefused ? this.earliest(known, now) : this.latest(known, now)
    const verdict = agedVerdict(known, cost, at)
    return verdict && { limit: known.limit, verdict }
  }

  /** The checks with what is known of the counts that refuse, for a store that may have lost them. */
  remind<C extends Check>(
    checks: readonly C[],
    now: Millis,
    isKnown: (check: Check) => boolean,
  ): readonly (C & { known?: State })[] {
    return checks.map((check, i) => {
      const known = this.known[i]!
      const { state, cost } = known
      const isSpent =
        state !== undefined && isKnown(check) && refusesAt(known, cost, this.latest(known, now))
      return isSpent ? { ...check, known: state } : check
    })
  }

  /** The latest that the store's time may be now. Its milliseconds begin at other moments than ours. */
  private latest({ verdict }: Known, now: Millis): Millis {
    return verdict.at + Math.ceil(now - this.sentAt)
  }

  /** The earliest that it may be. */
  private earliest({ verdict }: Known, now: Millis): Millis {
    return verdict.at + Math.floor(now - this.answeredAt)
  }
}

function refusesAt({ limit, cost, verdict, state }: Known, asked: number, now: Millis): boolean {
  if (asked === 0) return false
  if (state !== undefined) return !algorithmOf(limit).take(limit, { ...state }, asked, now)
  if (verdict.allowed || asked < cost) return false
  return verdict.retryAfter === null || now < verdict.at + verdict.retryAfter
}

function agedVerdict(
  { limit, cost, verdict, state }: Known,
  asked: number,
  now: Millis,
): Verdict | undefined {
  if (state !== undefined) return peekBy(algorithmOf(limit), limit, { ...state }, asked, now)
  const age = now - verdict.at
  // Which entry of a log ends next is known, and no further one.
  if (asked !== cost || (verdict.availableAfter > 0 && age >= verdict.availableAfter))
    return undefined
  const since = (wait: Millis): Millis => Math.max(0, wait - age)
  const { allowed, remaining, retryAfter, resetAfter, availableAfter, delay } = verdict
  return {
    allowed,
    remaining,
    retryAfter: retryAfter === null ? null : since(retryAfter),
    resetAfter: since(resetAfter),
    availableAfter: since(availableAfter),
    delay,
    at: now,
    source: 'cache',
  }
}
