// The counts that one operation is about: those of a policy, or those of a domain of descriptors.
import {
  peekDecision,
  type Check,
  type Decision,
  type MaybePromise,
  type Policy,
  type Rule,
  type Store,
} from 'sluice'
import type { CountedDomain } from '../../limiters/counted-domains.ts'
import { limiterFor, type Limiters } from '../../limiters/limiters.ts'
import { RequestError } from '../../net/problem.ts'
import { conditionalRules, type ConditionalRule } from './conditional-rules.ts'
import type { Inspectors } from './inspectors.ts'

type Subject = Readonly<Record<string, string>>

/** Counts that operators read and change; a name of a rule narrows a change to it. */
export interface OperatedCounts {
  readonly name: string
  /** By the store itself, so that a block hides no count; by the fallback when the store cannot answer. */
  peek(attributes: Subject, cost: number): Promise<Decision>
  /** The rules that the decision leaves out because they depend on other attributes. */
  conditional(
    attributes: Subject,
    cost: number,
    decision: Decision,
  ): Promise<readonly ConditionalRule[]>
  reset(attributes: Subject, rule: string | undefined): MaybePromise<void>
  refund(attributes: Subject, units: number, rule: string | undefined): MaybePromise<void>
}

/** The counts of a policy. */
export function countsOfPolicy(
  policy: Policy,
  limiters: Limiters,
  inspectors: Inspectors,
): OperatedCounts {
  const limiter = limiterFor(limiters, policy.name)
  const ruleOf = (name: string | undefined): Rule | undefined =>
    name === undefined ? undefined : ruleNamed(policy, name)
  return {
    name: policy.name,
    async peek(attributes, cost) {
      try {
        return await inspectors.of(policy).peek(attributes, cost)
      } catch {
        return limiter.peek(attributes, cost)
      }
    },
    conditional: (attributes, cost, decision) =>
      conditionalRules(policy, inspectors, { attributes, cost, decision }),
    reset(attributes, name) {
      const rule = ruleOf(name)
      return (rule === undefined ? limiter : inspectors.of(policy, rule)).reset(attributes)
    },
    refund: (attributes, units, name) =>
      inspectors.of(policy, ruleOf(name)).refund(attributes, units),
  }
}

/** The counts of a domain of descriptors; `guarded` answers also while the store cannot. */
export function countsOfDomain(
  domain: CountedDomain,
  { store, guarded }: { readonly store: Store; readonly guarded: Store },
): OperatedCounts {
  const checksOf = (attributes: Subject, units: number, rule: string | undefined): Check[] => {
    const { checks } = domain.match(attributes, units)
    const own = checks.filter((check) => rule === undefined || check.rule.name === rule)
    if (own.length > 0) return own
    const detail = 'no limit of the files matches these attributes; their order matters'
    throw new RequestError(404, 'unknown-rule', detail, rule === undefined ? 'attributes' : 'rule')
  }
  return {
    name: domain.name,
    async peek(attributes, cost) {
      const request = domain.match(attributes, cost)
      try {
        return await peekDecision(request, { store })
      } catch {
        return peekDecision(request, { store: guarded })
      }
    },
    // Descriptors have no conditions: the entries that are given choose the limit.
    conditional: () => Promise.resolve([]),
    reset: (attributes, rule) => guarded.reset(checksOf(attributes, 1, rule)),
    refund: (attributes, units, rule) => store.refund(checksOf(attributes, units, rule)),
  }
}

/** The rule of a name, or a {@link RequestError}. */
export function ruleNamed(policy: Policy, name: string): Rule {
  const rule = policy.rules.find((one) => one.name === name)
  if (rule !== undefined) return rule
  const names = policy.rules.map((one) => one.name).join(', ')
  const detail = `there is no rule of that name in policy ${policy.name}; accepted: ${names}`
  throw new RequestError(404, 'unknown-rule', detail, 'rule')
}
