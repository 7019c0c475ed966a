// From the descriptors of a request to checks, by the limits of a descriptor file.
import type { AlgorithmName, OnStoreFailure } from 'sluice'
import type { Charging } from '../../config/config.ts'
import type { CountedDomain } from '../../limiters/counted-domains.ts'
import type { CountedRules } from '../../metrics/decision-metrics.ts'
import { countKey } from '../descriptors/count-key.ts'
import { listedCounts } from '../descriptors/listed-counts.ts'
import type { DomainConfig } from '../descriptors/domain-config.ts'
import { placer, type DescriptorRule, type PlacedLimit } from '../descriptors/rule.ts'
import { descriptorTree, type DescriptorTree } from '../descriptors/tree.ts'
import { UNITS, unitNumbered, type Unit } from '../descriptors/unit.ts'
import type { Descriptor, RateLimitRequest } from '../wire/request.ts'
import type { RateLimitResponse } from '../wire/response.ts'
import type { DescriptorAnswer } from './descriptor-answer.ts'
import { attributesOf, hitsOf, requestOf, type DescriptorChecks } from './descriptor-checks.ts'
import { BadRequest, type DescriptorMatcher } from './domain.ts'
import { quotaMetadata } from './metadata.ts'

/** How the limits of a file are kept. */
export interface FileMatcherOptions {
  /** Default `fixed-window`, which is what the files of Envoy's own service mean. */
  readonly algorithm?: AlgorithmName
  /** Default `all-or-none`. */
  readonly charging?: Charging | undefined
  /** What decides while a remote store cannot answer. Default `local`. */
  readonly onStoreFailure?: OnStoreFailure
}

/** Counts of limits that callers set for descriptors which no rule matches. */
const CALLERS_RULE = { name: '' }
const NONE: readonly never[] = []

/** Matches the descriptors of one domain. */
export class FileMatcher implements DescriptorMatcher {
  private readonly tree: DescriptorTree
  private readonly hasReplaces: boolean
  private readonly hasQuotaMode: boolean
  private readonly placeOverride: (quota: number, unit: Unit) => PlacedLimit
  private readonly countRefused: boolean
  private readonly onStoreFailure: OnStoreFailure
  /** The rules by which decisions are counted. */
  readonly counted: CountedRules
  /** The counts as operators see them. */
  readonly listed: CountedDomain

  constructor(config: DomainConfig, options: FileMatcherOptions = {}) {
    const { algorithm = 'fixed-window', charging, onStoreFailure = 'local' } = options
    const placing = { domain: config.domain, algorithm }
    this.tree = descriptorTree(config, placing)
    this.hasReplaces = this.tree.rules.some(({ replaces }) => replaces.length > 0)
    this.hasQuotaMode = this.tree.rules.some(({ quotaMode }) => quotaMode)
    this.placeOverride = placer(placing, [], '')
    this.countRefused = charging === 'each'
    this.onStoreFailure = onStoreFailure
    const rules = this.tree.rules.map(({ path, keys, shadow }) => ({
      name: path,
      by: keys,
      shadow,
    }))
    this.counted = { name: config.domain, rules }
    this.listed = listedCounts(config.domain, this.tree, (attributes, cost) => {
      const entries = Object.entries(attributes).map(([key, value]) => ({
        key,
        value: String(value),
      }))
      const descriptor = { entries, limit: undefined, hits: cost, negative: false }
      return requestOf([this.matchOne(descriptor, 1)], (_, units) => units)
    })
  }

  match({ descriptors, hits }: RateLimitRequest): readonly DescriptorChecks[] {
    const matched = descriptors.map((descriptor) => this.matchOne(descriptor, hits))
    if (!this.hasReplaces) return matched
    const rules = this.rulesFor(descriptors)
    const replaced = new Set(rules.flatMap((rule) => rule?.replaces ?? []))
    return matched.map((one, i) => {
      const name = rules[i]?.name ?? ''
      return name !== '' && replaced.has(name) ? { ...one, checks: NONE, isUnlimited: false } : one
    })
  }

  /** One line for each limit, such as `path_/login.user: unit=HOUR requests_per_unit=2, shadow_mode: false`. */
  describe(): readonly string[] {
    return this.tree.rules.map(({ path, placed, shadow }) => {
      const name = path.replaceAll(', ', '.').replaceAll('=', '_')
      if (placed === null) return `${name}: unlimited`
      const { requestsPerUnit, unit } = placed.shown
      const unitName = unitNumbered(unit)?.name.toUpperCase() ?? ''
      return `${name}: unit=${unitName} requests_per_unit=${requestsPerUnit}, shadow_mode: ${shadow}`
    })
  }

  metadata(
    request: RateLimitRequest,
    answers: readonly DescriptorAnswer[],
  ): RateLimitResponse['dynamicMetadata'] {
    if (!this.hasQuotaMode) return undefined
    return quotaMetadata(request, answers, this.rulesFor(request.descriptors))
  }

  /** The configured rule of each descriptor; none where the caller sets a limit of its own. */
  private rulesFor(descriptors: readonly Descriptor[]): readonly (DescriptorRule | undefined)[] {
    return descriptors.map(({ entries, limit }) =>
      limit === undefined ? this.tree.match(entries)?.rule : undefined,
    )
  }

  private matchOne(descriptor: Descriptor, requestHits: number): DescriptorChecks {
    const { entries, limit } = descriptor
    const { use, cost } = hitsOf(descriptor, requestHits)
    const attributes = attributesOf(descriptor)
    const match = this.tree.match(entries)
    const placed =
      limit === undefined
        ? match?.rule.placed
        : (match?.rule.override ?? this.placeOverride)(limit.requestsPerUnit, unitOf(limit.unit))
    const isUnlimited = placed === null
    if (placed === undefined || placed === null)
      return { use, attributes, checks: NONE, skipped: NONE, isUnlimited }
    const key = match?.key ?? countKey(entries.flatMap(({ key, value }) => [key, value]))
    const check = {
      space: placed.space,
      key,
      limit: placed.limit,
      cost,
      shadow: limit === undefined && match?.rule.shadow === true,
      // Not by a spread, which is slower.
      countRefused: this.countRefused,
      onStoreFailure: this.onStoreFailure,
      rule: match?.rule.counted ?? CALLERS_RULE,
      attributes,
      shown: placed.shown,
    }
    return { use, attributes, checks: [check], skipped: NONE, isUnlimited }
  }
}

function unitOf(number: number): Unit {
  const unit = unitNumbered(number)
  if (unit !== undefined) return unit
  const accepted = UNITS.map(({ name, number }) => `${number} (${name})`).join(', ')
  throw new BadRequest(`the unit of a descriptor's limit is ${number}; accepted: ${accepted}`)
}
