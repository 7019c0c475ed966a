// Answers for the decision service while it fails, by a limiter of this process.
import type { Decision } from '../decision/decision.ts'
import { causeOf, faultOf } from '../errors.ts'
import type { Limiter, SyncLimiter } from '../limiter/limiter.ts'
import type { Attributes } from '../policy/policy.ts'
import type { Shard } from '../resilience/call-guard.ts'
import type { OnEvent } from '../resilience/events.ts'
import type { Millis } from '../time/clock.ts'

/** What may answer for the service: its verbs, by promises or at once. */
export type LocalLimiter = Omit<Limiter, 'describe'> | Omit<SyncLimiter, 'describe'>

/** Answers with a limiter of this process, and remembers when, so that units are refunded to where they were taken. */
export class RemoteFallback {
  private readonly limiter: LocalLimiter
  private readonly shard: Shard

  constructor(limiter: LocalLimiter, shard: Shard) {
    this.limiter = limiter
    this.shard = shard
  }

  /** The decision in place of one that failed with `error`. Invalid input and a closed limiter throw that error. */
  async check(error: unknown, attributes: Attributes | string, cost?: number): Promise<Decision> {
    if (faultOf(error) === 'caller') throw error
    const decision = await this.limiter.check(attributes, cost)
    this.shard.noteFallback(decision.at)
    return degraded(decision, error)
  }

  async peek(error: unknown, attributes: Attributes | string, cost?: number): Promise<Decision> {
    if (faultOf(error) === 'caller') throw error
    return degraded(await this.limiter.peek(attributes, cost), error)
  }

  /** Whether the units of a decision were taken here; without an instant, those of the last decision. */
  tookAt(takenAt: Millis | undefined): boolean {
    const { shard } = this
    return takenAt === undefined ? shard.isFallingBack : shard.fellBackAt(takenAt)
  }

  async refund(attributes: Attributes | string, cost?: number, takenAt?: Millis): Promise<void> {
    await this.limiter.refund(attributes, cost, takenAt)
  }

  async reset(attributes: Attributes | string): Promise<void> {
    await this.limiter.reset(attributes)
  }
}

/** The decision as plain data, marked with why the service did not make it. */
function degraded(decision: Decision, error: unknown): Decision {
  const { allowed, reason, rule, limit, remaining, retryAfter } = decision
  const { resetAfter, delay, at, outcomes, skipped } = decision
  const numbers = { remaining, retryAfter, resetAfter, delay, at }
  const cause = causeOf(error)
  return { allowed, reason, rule, limit, ...numbers, degraded: true, cause, outcomes, skipped }
}

/** One warning when the service is lost and one when it answers again. */
export const warnOfService: OnEvent = (event) => {
  const warning =
    event.type === 'opened'
      ? `sluice: the decision service does not answer (${event.cause})`
      : event.type === 'closed'
        ? `sluice: the decision service answers again after ${Math.round(event.openFor / 100) / 10} s`
        : undefined
  // oxlint-disable-next-line no-console -- without a listener, the console is the only place.
  if (warning !== undefined) console.warn(warning)
}
