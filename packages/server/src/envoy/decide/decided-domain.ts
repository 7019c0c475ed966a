// Decides the requests of one domain: all descriptors in one atomic call of the library's `decide`.
import {
  decide,
  isPromise,
  peekDecision,
  visibleOutcomes,
  type DecideOptions,
  type Decision,
  type MaybePromise,
} from 'sluice'
import type { Charging, EnvoyHeaders } from '../../config/config.ts'
import type { RateLimitRequest } from '../wire/request.ts'
import {
  OK,
  OVER_LIMIT,
  type Code,
  type HeaderValue,
  type RateLimitResponse,
} from '../wire/response.ts'
import { answerOf, blockedAnswer, NO_LIMIT, type DescriptorAnswer } from './descriptor-answer.ts'
import { outcomesOf, requestOf, type DescriptorChecks } from './descriptor-checks.ts'
import { unavailable, type DescriptorMatcher, type Domain } from './domain.ts'
import { DEFAULT_HEADERS, headerWriter, type WriteHeaders } from './headers.ts'

/** How a domain answers. */
export interface DecidedDomainOptions {
  /** Default `all-or-none`. */
  readonly charging?: Charging | undefined
  /** Headers for the client. Default: `retry-after`. */
  readonly headers?: readonly EnvoyHeaders[] | undefined
  /** The header field that carries the id of a refusal. Default: none. */
  readonly decisionIdHeader?: string | undefined
}

/** A domain whose checks come from a matcher; `around` is what stands around its decisions. */
export function decidedDomain(
  matcher: DescriptorMatcher,
  around: DecideOptions,
  options: DecidedDomainOptions = {},
): Domain {
  return new DecidedDomain(matcher, around, options)
}

class DecidedDomain implements Domain {
  private readonly matcher: DescriptorMatcher
  private readonly around: DecideOptions
  private readonly chargesEach: boolean
  private readonly writeHeaders: WriteHeaders
  private readonly decisionIdHeader: string | undefined

  constructor(
    matcher: DescriptorMatcher,
    around: DecideOptions,
    { charging, headers = DEFAULT_HEADERS, decisionIdHeader }: DecidedDomainOptions,
  ) {
    this.matcher = matcher
    this.around = around
    this.chargesEach = charging === 'each'
    this.writeHeaders = headerWriter(headers)
    this.decisionIdHeader = decisionIdHeader
  }

  decide(request: RateLimitRequest): MaybePromise<RateLimitResponse> {
    const descriptors = this.matcher.match(request)
    if (!descriptors.every(isTaken)) return this.decideOtherUses(request, descriptors)
    const decision = decide(requestOf(descriptors, ownCost), this.around)
    return isPromise(decision)
      ? decision.then((decision) => this.respond(request, descriptors, decision))
      : this.respond(request, descriptors, decision)
  }

  /**
   * A request with looks or refunds. A look refuses the request when not a single unit is left, so looks come first,
   * and nothing is charged for what they refuse. Units are refunded when the request is allowed.
   */
  private async decideOtherUses(
    request: RateLimitRequest,
    descriptors: readonly DescriptorChecks[],
  ): Promise<RateLimitResponse> {
    const { around } = this
    const start = performance.now()
    // If each descriptor pays for itself, a request with 0 hits is always allowed, as in Envoy's own service.
    if (!this.chargesEach && descriptors.some(({ use }) => use === 'look')) {
      const lookRequest = requestOf(descriptors, (use, cost) => LOOK_COSTS[use] ?? cost)
      const decision = await peekDecision(lookRequest, around)
      if (isLookRefused(descriptors, decision)) {
        around.onDecision?.(decision, lookRequest, performance.now() - start)
        return this.respond(request, descriptors, decision)
      }
    }
    const takeRequest = requestOf(descriptors, (use, cost) => (use === 'take' ? cost : 0))
    const response = this.respond(request, descriptors, await decide(takeRequest, around))
    const refunds = descriptors.flatMap(({ use, checks }) => (use === 'refund' ? checks : []))
    if (response.overallCode === OVER_LIMIT || refunds.length === 0) return response
    await around.store.refund(refunds)
    const after = await peekDecision(
      requestOf(descriptors, () => 0),
      around,
    )
    return this.respond(request, descriptors, after)
  }

  private respond(
    request: RateLimitRequest,
    descriptors: readonly DescriptorChecks[],
    decision: Decision,
  ): RateLimitResponse {
    const answers =
      decision.reason === 'blocked'
        ? this.blockedAnswers(descriptors)
        : this.answers(descriptors, decision)
    let overallCode: Code = OK
    let unenforced = 0
    for (const { code, isOver } of answers) {
      if (code === OVER_LIMIT) overallCode = OVER_LIMIT
      else if (isOver) unenforced += 1
    }
    return {
      overallCode,
      statuses: answers,
      responseHeaders: this.headersOf(answers, decision, overallCode),
      dynamicMetadata: this.matcher.metadata?.(request, answers),
      unenforced,
    }
  }

  private headersOf(
    answers: readonly DescriptorAnswer[],
    decision: Decision,
    code: Code,
  ): readonly HeaderValue[] {
    const key = this.decisionIdHeader
    const isOver = code === OVER_LIMIT
    const headers = this.writeHeaders(answers, isOver)
    if (key === undefined || !isOver) return headers
    const { id } = decision
    return id === undefined ? headers : [...headers, { key, value: id }]
  }

  private answers(
    descriptors: readonly DescriptorChecks[],
    decision: Decision,
  ): readonly DescriptorAnswer[] {
    const outcomes = visibleOutcomes(decision)
    for (const { source, shadow } of outcomes)
      if (source === 'closed' && !shadow) throw unavailable()
    const isTentative = !decision.allowed && !this.chargesEach && descriptors.length > 1
    const first = isTentative ? firstOutcomes(descriptors) : undefined
    const answers = new Array<DescriptorAnswer>(descriptors.length)
    let start = 0
    for (let i = 0; i < descriptors.length; i++) {
      const descriptor = descriptors[i]!
      answers[i] = answerOf(descriptor, outcomes, start, first)
      start += descriptor.checks.length
    }
    return answers
  }

  /** Which descriptors are blocked, when the request is. */
  private blockedAnswers(descriptors: readonly DescriptorChecks[]): readonly DescriptorAnswer[] {
    return descriptors.map(({ attributes }) => {
      const left = this.around.blocked?.(attributes)
      return left === undefined ? NO_LIMIT : blockedAnswer(left)
    })
  }
}

function isTaken({ use }: DescriptorChecks): boolean {
  return use === 'take'
}

function ownCost(_: unknown, cost: number): number {
  return cost
}

/** What a look asks the store: whether one unit is left. Units to refund do not matter for it. */
const LOOK_COSTS: Readonly<Partial<Record<string, number>>> = { look: 1, refund: 0 }

function isLookRefused(descriptors: readonly DescriptorChecks[], decision: Decision): boolean {
  return outcomesOf(descriptors, decision.outcomes).some(
    (own, i) =>
      descriptors[i]!.use === 'look' && own.some(({ allowed, shadow }) => !allowed && !shadow),
  )
}

/**
 * For each check the place of the first check on the same count. Checks on one count are decided in order, and a
 * refused request charges none of them: what is left is what the first of them found.
 */
function firstOutcomes(descriptors: readonly DescriptorChecks[]): readonly number[] {
  const places = new Map<string, number>()
  const first: number[] = []
  for (const { checks } of descriptors) {
    for (const { space, key } of checks) {
      const id = `${space.length}:${space}${key}`
      const place = places.get(id) ?? first.length
      places.set(id, place)
      first.push(place)
    }
  }
  return first
}
