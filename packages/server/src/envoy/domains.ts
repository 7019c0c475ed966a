// The domains in force: those of descriptor files, swapped all at once, and every policy under its own name.
import type { DecideOptions, Decision, DecisionRequest, Policy } from 'sluice'
import type { CountedDomain, CountedDomains } from '../limiters/counted-domains.ts'
import type { LimiterSource } from '../limiters/limiters.ts'
import type { CountedRules } from '../metrics/decision-metrics.ts'
import { decidedDomain, type DecidedDomainOptions } from './decide/decided-domain.ts'
import { FileMatcher, type FileMatcherOptions } from './decide/descriptor-matcher.ts'
import type { Domain, Domains } from './decide/domain.ts'
import { matcherOfPolicy } from './decide/policy-matcher.ts'
import type { DomainConfig } from './descriptors/domain-config.ts'

/** How domains decide. */
export interface DomainOptions extends FileMatcherOptions, DecidedDomainOptions {
  /** What stands around the decisions of a policy or a domain. */
  readonly around: (counted: CountedRules) => DecideOptions
  /** Called with the domains of descriptors in force whenever they have changed. */
  readonly onDomains?: (counted: readonly CountedRules[]) => void
  /** Counts the decisions of the descriptors of one domain. */
  readonly countDescriptors?: (
    counted: CountedRules,
  ) => (decision: Decision, request: DecisionRequest) => void
}

/** Finds domains by name; a domain of descriptors takes precedence over a policy of the same name. */
export class DomainRegistry implements Domains, CountedDomains {
  private readonly options: DomainOptions
  private readonly policies: LimiterSource | undefined
  private ofDescriptors: ReadonlyMap<string, Domain> = new Map()
  private lines: readonly string[] = []
  private listed: readonly CountedDomain[] = []
  private readonly ofPolicies = new WeakMap<Policy, Domain>()

  constructor(options: DomainOptions, policies?: LimiterSource) {
    this.options = options
    this.policies = policies
  }

  /** Puts other descriptors in force; counts are kept where keys, unit and algorithm are the same. */
  swap(configs: readonly DomainConfig[]): void {
    const lines: string[] = []
    const listed: CountedDomain[] = []
    const counted: CountedRules[] = []
    this.ofDescriptors = new Map(
      configs.map((config) => {
        const matcher = new FileMatcher(config, this.options)
        for (const line of matcher.describe()) lines.push(`${config.domain}.${line}`)
        listed.push(matcher.listed)
        counted.push(matcher.counted)
        return [config.domain, decidedDomain(matcher, this.optionsOf(matcher), this.options)]
      }),
    )
    this.lines = lines
    this.listed = listed
    this.options.onDomains?.(counted)
  }

  /** What stands around the decisions of a file's descriptors: as for policies, and counters of each descriptor. */
  private optionsOf({ counted }: FileMatcher): DecideOptions {
    const around = this.options.around(counted)
    const count = this.options.countDescriptors?.(counted)
    if (count === undefined) return around
    return {
      ...around,
      onDecision: (decision, request, elapsed) => {
        around.onDecision?.(decision, request, elapsed)
        count(decision, request)
      },
    }
  }

  /** One line for each limit of the files, as Envoy's own service prints them. */
  describe(): readonly string[] {
    return this.lines
  }

  /** The domains of descriptors, for operators. */
  list(): readonly CountedDomain[] {
    return this.listed
  }

  /** The names of the domains of descriptors. */
  names(): readonly string[] {
    return [...this.ofDescriptors.keys()]
  }

  get(name: string): Domain | undefined {
    return this.ofDescriptors.get(name) ?? this.policyNamed(name)
  }

  private policyNamed(name: string): Domain | undefined {
    const policy = this.policies?.current.policies.find((one) => one.name === name)
    if (policy === undefined) return undefined
    let domain = this.ofPolicies.get(policy)
    if (domain === undefined) {
      const { headers, around } = this.options
      // What a refused request costs is the policy's own to say, by `countRefused` of its rules.
      domain = decidedDomain(matcherOfPolicy(policy), around(policy), { headers })
      this.ofPolicies.set(policy, domain)
    }
    return domain
  }
}
