// The domains in force: those of descriptor files, swapped all at once, and every policy under its own name.
import type { AlgorithmName, Store } from 'sluice'
import type { LimiterSource, ServiceLimiter } from '../limiters/limiters.ts'
import { descriptorDomain, type DescriptorDomainOptions } from './decide/descriptor-domain.ts'
import type { Domain, Domains } from './decide/domain.ts'
import type { Charging, HeaderDialect } from '../config/envoy-options.ts'
import type { KnownBlocks } from '../controls/live-controls.ts'
import { blockingDomain } from './decide/blocking-domain.ts'
import { policyDomain } from './decide/policy-domain.ts'
import type { DomainConfig } from './descriptors/domain-config.ts'

/** How domains decide. */
export interface DomainOptions {
  /** Where the counts of descriptors live. */
  readonly store: Store
  /** Default `fixed-window`. */
  readonly algorithm?: AlgorithmName
  /** Default `all-or-none`. */
  readonly charging?: Charging
  /** Default `retry-after`. */
  readonly headers?: readonly HeaderDialect[]
  /** What operators have blocked; default: nobody can. */
  readonly blocks?: KnownBlocks
}

/** Finds domains by name; a domain of descriptors goes before a policy of the same name. */
export class DomainRegistry implements Domains {
  private readonly options: DescriptorDomainOptions & Pick<DomainOptions, 'blocks'>
  private readonly policies: LimiterSource | undefined
  private ofDescriptors: ReadonlyMap<string, Domain> = new Map()
  private readonly ofPolicies = new WeakMap<ServiceLimiter, Domain>()

  constructor(options: DomainOptions, policies?: LimiterSource) {
    this.options = options
    this.policies = policies
  }

  /** Puts other descriptors in force; counts are kept where keys, unit and algorithm are the same. */
  swap(configs: readonly DomainConfig[]): void {
    const { blocks, headers } = this.options
    this.ofDescriptors = new Map(
      configs.map((config) => {
        const domain = descriptorDomain(config, this.options)
        return [
          config.domain,
          blocks === undefined ? domain : blockingDomain(domain, config.domain, blocks, headers),
        ]
      }),
    )
  }

  /** The names of the domains of descriptors. */
  names(): readonly string[] {
    return [...this.ofDescriptors.keys()]
  }

  get(name: string): Domain | undefined {
    return this.ofDescriptors.get(name) ?? this.policyNamed(name)
  }

  private policyNamed(name: string): Domain | undefined {
    const limiter = this.policies?.current.get(name)
    if (limiter === undefined) return undefined
    let domain = this.ofPolicies.get(limiter)
    if (domain === undefined) {
      domain = policyDomain(limiter, this.options.headers)
      this.ofPolicies.set(limiter, domain)
    }
    return domain
  }
}
