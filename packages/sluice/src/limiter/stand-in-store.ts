// The store of a stand-in: counts rules in this process, lets through, or refuses, as each rule says.
import type { Verdict } from '../limit/verdict.ts'
import type { OnStoreFailure } from '../policy/policy.ts'
import type { Check, SyncStore } from '../stores/store.ts'
import type { Clock, Millis } from '../time/clock.ts'

/** A check as limiters make it: with the rule that asks it. */
type Asked = Check & { readonly rule: { readonly name: string } }

/** What a stand-in's store works with. */
export interface StandInParts {
  /** For the rules that are counted here. */
  readonly counts: SyncStore
  /** What a rule says, by its name. */
  readonly modeOf: (rule: string) => OnStoreFailure
  /** The part of some units that is granted here. */
  readonly partOf: (units: number) => number
  /** What the store itself is known to refuse. */
  readonly recall: (check: Check) => Verdict | undefined
  readonly clock: Clock
}

/** A {@link SyncStore} that decides each check by the mode of its rule. */
export class StandInStore implements SyncStore {
  readonly sync = true
  /** How long a rule waits for what only the store can allow: until it is asked again. */
  retryAfter: Millis = 1
  private readonly parts: StandInParts

  constructor(parts: StandInParts) {
    this.parts = parts
  }

  /** Local checks are taken all or none among themselves, and not at all when a closed rule or the store's last word refuses. */
  take(checks: readonly Check[]): readonly Verdict[] {
    const { counts } = this.parts
    const recalled = this.recalled(checks)
    const refuses = checks.some(
      (check, i) =>
        check.shadow !== true && (this.modeOf(check) === 'closed' || recalled?.[i] !== undefined),
    )
    return this.each(checks, recalled, (local) =>
      refuses ? counts.peek(local) : counts.take(local),
    )
  }

  peek(checks: readonly Check[]): readonly Verdict[] {
    return this.each(checks, this.recalled(checks), (local) => this.parts.counts.peek(local))
  }

  refund(checks: readonly Check[]): void {
    this.parts.counts.refund(this.localOf(checks))
  }

  reset(checks: readonly Check[]): void {
    this.parts.counts.reset(this.localOf(checks))
  }

  /** The counts are shared with others. */
  close(): void {}

  /** What the store refuses of the checks that are counted here; undefined when there is nothing. */
  private recalled(checks: readonly Check[]): readonly (Verdict | undefined)[] | undefined {
    const { recall } = this.parts
    const all = checks.map((check) =>
      check.shadow !== true && this.modeOf(check) === 'local' ? recall(check) : undefined,
    )
    return all.some((one) => one !== undefined) ? all : undefined
  }

  private each(
    checks: readonly Check[],
    recalled: readonly (Verdict | undefined)[] | undefined,
    decide: (local: readonly Check[]) => readonly Verdict[],
  ): readonly Verdict[] {
    const local = this.localOf(checks)
    const verdicts =
      local.length === 0 ? [] : decide(local).map((verdict, i) => this.hopeful(local[i]!, verdict))
    if (local.length === checks.length && recalled === undefined) return verdicts
    const now = this.parts.clock()
    let next = 0
    return checks.map((check, i) => {
      const mode = this.modeOf(check)
      if (mode === 'local') {
        const own = verdicts[next++]!
        return recalled?.[i] ?? own
      }
      return mode === 'open' ? passed(check, now) : refused(this.retryAfter, now)
    })
  }

  /** A cost above the part that is granted here never fits, but it may fit the whole that the store grants. */
  private hopeful({ limit, cost }: Check, verdict: Verdict): Verdict {
    if (verdict.allowed || verdict.retryAfter !== null || limit.quota === 0) return verdict
    if (this.parts.partOf(cost) > limit.burst) return verdict
    const { allowed, remaining, resetAfter, delay, at } = verdict
    const retryAfter = this.retryAfter
    const availableAfter = Math.min(verdict.availableAfter, retryAfter)
    return { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at }
  }

  private localOf(checks: readonly Check[]): readonly Check[] {
    return checks.filter((check) => this.modeOf(check) === 'local')
  }

  private modeOf(check: Check): OnStoreFailure {
    return this.parts.modeOf((check as Asked).rule.name)
  }
}

/** Nothing is counted, so everything is left. */
function passed({ limit }: Check, at: Millis): Verdict {
  return {
    allowed: true,
    remaining: limit.burst,
    retryAfter: 0,
    resetAfter: 0,
    availableAfter: 0,
    delay: 0,
    at,
  }
}

function refused(wait: Millis, at: Millis): Verdict {
  return {
    allowed: false,
    remaining: 0,
    retryAfter: wait,
    resetAfter: wait,
    availableAfter: wait,
    delay: 0,
    at,
  }
}
