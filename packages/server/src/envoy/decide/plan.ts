// From the descriptors of a request to what is asked of the store.
import type { AlgorithmName, Check } from 'sluice'
import { countKey } from '../descriptors/count-key.ts'
import type { DomainConfig } from '../descriptors/domain-config.ts'
import { placer, type DescriptorRule, type PlacedLimit } from '../descriptors/rule.ts'
import { descriptorTree, type DescriptorTree } from '../descriptors/tree.ts'
import { UNITS, unitNumbered, type Unit } from '../descriptors/unit.ts'
import type { Descriptor, RateLimitRequest } from '../wire/request.ts'
import { NO_LIMIT, UNLIMITED, type Answer } from './answer.ts'
import { BadRequest } from './domain.ts'

/** What one descriptor wants of the store. A look costs 0, and what is to be given back stands in `cost`. */
export interface Ask extends Check {
  readonly kind: 'take' | 'look' | 'refund'
  readonly placed: PlacedLimit
  readonly shadow: boolean
}

/** A question, or an answer that needs none. */
export type Plan = Ask | Answer

/** Whether the store must be asked. */
export function isAsk(plan: Plan): plan is Ask {
  return 'kind' in plan
}

/** Finds the limits of requests. */
export class Planner {
  private readonly tree: DescriptorTree
  private readonly hasReplaces: boolean
  private readonly placeOverride: (quota: number, unit: Unit) => PlacedLimit
  private readonly countRefused: boolean
  /** Whether any rule of the domain is in quota mode. */
  readonly hasQuotaMode: boolean

  constructor(config: DomainConfig, algorithm: AlgorithmName, countRefused: boolean) {
    const placing = { domain: config.domain, algorithm }
    this.tree = descriptorTree(config, placing)
    this.hasReplaces = this.tree.rules.some(({ replaces }) => replaces.length > 0)
    this.hasQuotaMode = this.tree.rules.some(({ quotaMode }) => quotaMode)
    this.placeOverride = placer(placing, [], '')
    this.countRefused = countRefused
  }

  /** One plan for each descriptor. */
  plan({ descriptors, hits }: RateLimitRequest): readonly Plan[] {
    const plans = descriptors.map((descriptor) => this.planOne(descriptor, hits))
    return this.hasReplaces ? withoutReplaced(plans, this.rulesFor(descriptors)) : plans
  }

  /** The configured rule of each descriptor; none where the caller sets a limit of its own. */
  rulesFor(descriptors: readonly Descriptor[]): readonly (DescriptorRule | undefined)[] {
    return descriptors.map(({ entries, limit }) =>
      limit === undefined ? this.tree.match(entries)?.rule : undefined,
    )
  }

  private planOne(descriptor: Descriptor, requestHits: number): Plan {
    const { entries, limit, hits = requestHits || 1, negative } = descriptor
    const match = this.tree.match(entries)
    const kind = hits === 0 ? 'look' : negative ? 'refund' : 'take'
    if (limit !== undefined) {
      const place = match?.rule.override ?? this.placeOverride
      const key = match?.key ?? countKey(entries.flatMap(({ key, value }) => [key, value]))
      return this.ask(kind, place(limit.requestsPerUnit, unitOf(limit.unit)), key, hits, false)
    }
    if (match === undefined) return NO_LIMIT
    const { rule, key } = match
    return rule.placed === null ? UNLIMITED : this.ask(kind, rule.placed, key, hits, rule.shadow)
  }

  private ask(
    kind: Ask['kind'],
    placed: PlacedLimit,
    key: string,
    cost: number,
    shadow: boolean,
  ): Ask {
    const { space, limit } = placed
    return { kind, placed, space, key, limit, cost, shadow, countRefused: this.countRefused }
  }
}

function unitOf(number: number): Unit {
  const unit = unitNumbered(number)
  if (unit !== undefined) return unit
  const accepted = UNITS.map(({ name, number }) => `${number} (${name})`).join(', ')
  throw new BadRequest(`the unit of a descriptor's limit is ${number}; accepted: ${accepted}`)
}

/** The plans without the limits that others in the same request replace. */
function withoutReplaced(
  plans: readonly Plan[],
  rules: readonly (DescriptorRule | undefined)[],
): readonly Plan[] {
  const replaced = new Set(rules.flatMap((rule) => rule?.replaces ?? []))
  return plans.map((plan, i) => {
    const name = rules[i]?.name ?? ''
    return name !== '' && replaced.has(name) ? NO_LIMIT : plan
  })
}
