// Rules that were skipped in all of their first requests because an attribute was missing: reported once, as they limit no request.
import type { DecisionRequest } from '../decision/decide.ts'
import { helpAt } from '../errors.ts'

/** Requests in which a rule is skipped before that is reported. */
const MANY = 1000
/** Requests after which nothing is looked for any more. */
const MAX_LOOKS = 100_000

/**
 * A probable mistake, found when a limiter is made or while it runs.
 *
 * @example
 * ```ts
 * const onWarning = ({ code, message }: LimiterWarning) => console.warn(code, message)
 * createLimiter({ policy, onWarning })
 * ```
 */
export interface LimiterWarning {
  /** Stable, documented under `docs/reference/http/warnings.md`. */
  readonly code:
    | 'rule-skipped'
    | 'slots-not-taken'
    | 'bare-duration'
    | 'counts-shared'
    | 'limiters-many'
  readonly message: string
  /** The address of what the documentation says about the code. */
  readonly help: string
}

/** Watches the first requests of a limiter. */
export class SkippedRules {
  /** How often each rule was skipped that has never applied. */
  private readonly counts: Map<string, number>
  private readonly policy: string
  private readonly warn: (warning: LimiterWarning) => void
  private looks = MAX_LOOKS

  constructor(
    policy: string,
    rules: readonly string[],
    warn: (warning: LimiterWarning) => void = logLimiterWarning,
  ) {
    this.policy = policy
    this.warn = warn
    this.counts = new Map(rules.map((name) => [name, 0]))
  }

  /** Looks at the checks of a request. False when there is nothing more to look for. */
  note({ checks, skipped }: DecisionRequest): boolean {
    const { counts } = this
    for (const { rule } of checks) counts.delete(rule.name)
    for (const { rule, missing } of skipped) {
      const count = counts.get(rule)
      if (count === undefined) continue
      // An unlimited key is no mistake.
      if (missing === undefined) counts.delete(rule)
      else if (count + 1 < MANY) counts.set(rule, count + 1)
      else this.report(rule, missing)
    }
    this.looks -= 1
    return counts.size > 0 && this.looks > 0
  }

  private report(rule: string, missing: string): void {
    this.counts.delete(rule)
    const message = `rule ${rule} of policy ${this.policy} was skipped in each of its first ${MANY} requests: none had the attribute ${missing}`
    try {
      this.warn({
        code: 'rule-skipped',
        message,
        help: helpAt('reference/http/warnings', 'rule-skipped'),
      })
    } catch {
      // A listener that fails must not fail a request.
    }
  }
}

/** What becomes of warnings without a listener. */
export function logLimiterWarning({ code, message, help }: LimiterWarning): void {
  // oxlint-disable-next-line no-console -- the default listener
  console.warn(`sluice: ${message} (${code}, ${help})`)
}
