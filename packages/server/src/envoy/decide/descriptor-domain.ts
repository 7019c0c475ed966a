// Decides for a domain whose limits are written as descriptors: all descriptors of a request in one call to the store.
import type { AlgorithmName, MaybePromise, Store, Verdict } from 'sluice'
import type { Charging, HeaderDialect } from '../../config/envoy-options.ts'
import type { DomainConfig } from '../descriptors/domain-config.ts'
import type { RateLimitRequest } from '../wire/request.ts'
import { OK, OVER_LIMIT, type RateLimitResponse } from '../wire/response.ts'
import { answerOf, responseOf } from './answer.ts'
import { isPromise, type Domain } from './domain.ts'
import { DEFAULT_DIALECTS } from './headers.ts'
import { quotaMetadata } from './metadata.ts'
import { isAsk, Planner, type Ask, type Plan } from './plan.ts'

/** How a domain decides. */
export interface DescriptorDomainOptions {
  readonly store: Store
  /** Default `fixed-window`, which is what the files of Envoy's own service mean. */
  readonly algorithm?: AlgorithmName
  /** Default `all-or-none`. */
  readonly charging?: Charging
  /** Headers for the client. Default: `retry-after`. */
  readonly headers?: readonly HeaderDialect[]
}

/** The domain of a configuration that has been checked. */
export function descriptorDomain(config: DomainConfig, options: DescriptorDomainOptions): Domain {
  return new DescriptorDomain(config, options)
}

class DescriptorDomain implements Domain {
  private readonly planner: Planner
  private readonly store: Store
  private readonly countRefused: boolean
  private readonly headers: readonly HeaderDialect[]

  constructor(config: DomainConfig, options: DescriptorDomainOptions) {
    const { store, algorithm = 'fixed-window', charging = 'all-or-none' } = options
    this.store = store
    this.countRefused = charging === 'each'
    this.headers = options.headers ?? DEFAULT_DIALECTS
    this.planner = new Planner(config, algorithm, this.countRefused)
  }

  decide(request: RateLimitRequest): MaybePromise<RateLimitResponse> {
    const plans = this.planner.plan(request)
    const asks = plans.filter(isAsk)
    if (asks.length === 0) return this.respond(request, plans, [])
    if (asks.some(({ kind }) => kind === 'refund'))
      return this.decideWithRefunds(request, plans, asks)
    const verdicts = this.store.take(asks)
    if (!isPromise(verdicts)) return this.finish(request, plans, asks, verdicts)
    return verdicts.then((verdicts) => this.finish(request, plans, asks, verdicts))
  }

  private finish(
    request: RateLimitRequest,
    plans: readonly Plan[],
    asks: readonly Ask[],
    verdicts: readonly Verdict[],
  ): MaybePromise<RateLimitResponse> {
    const response = this.respond(request, plans, verdicts)
    if (response.overallCode === OK || this.countRefused) return response
    if (asks.some((ask, i) => !ask.shadow && !verdicts[i]!.allowed)) return response
    // The refusal is a look's, of which the store knows nothing: what others paid goes back.
    const paid = asks
      .map((ask, i) => ({ ...ask, takenAt: verdicts[i]!.at }))
      .filter(({ kind }, i) => kind === 'take' && verdicts[i]!.allowed)
    const given = paid.length === 0 ? undefined : this.store.refund(paid)
    return isPromise(given) ? given.then(() => response) : response
  }

  /** Units are handed back unless another descriptor refuses; then all are looked at once more. */
  private async decideWithRefunds(
    request: RateLimitRequest,
    plans: readonly Plan[],
    asks: readonly Ask[],
  ): Promise<RateLimitResponse> {
    const looking = asks.map((ask) => (ask.kind === 'refund' ? { ...ask, cost: 0 } : ask))
    const taken = await this.store.take(looking)
    const response = await this.finish(request, plans, looking, taken)
    if (response.overallCode === OVER_LIMIT) return response
    await this.store.refund(asks.filter(({ kind }) => kind === 'refund'))
    const verdicts = await this.store.peek(asks.map((ask) => ({ ...ask, cost: 0 })))
    return this.respond(request, plans, verdicts)
  }

  private respond(
    request: RateLimitRequest,
    plans: readonly Plan[],
    verdicts: readonly Verdict[],
  ): RateLimitResponse {
    let next = 0
    const answers = plans.map((plan) => {
      if (!isAsk(plan)) return plan
      const verdict = verdicts[next++]!
      return answerOf(isOver(plan, verdict), plan.shadow, plan.placed.shown, plan.limit, verdict)
    })
    const response = responseOf(answers, this.headers)
    if (!this.planner.hasQuotaMode) return response
    const rules = this.planner.rulesFor(request.descriptors)
    const dynamicMetadata = quotaMetadata(request, answers, rules)
    return dynamicMetadata === undefined ? response : { ...response, dynamicMetadata }
  }
}

/** A look is over the limit when not a single unit is left; what is handed back never is. */
function isOver({ kind }: Ask, verdict: Verdict): boolean {
  if (kind === 'refund') return false
  return !verdict.allowed || (kind === 'look' && verdict.remaining === 0)
}
