// Decides for a domain that is a policy: each descriptor's entries are the attributes of one check.
import type { Attributes, Decision, Limiter, MaybePromise, SyncLimiter } from 'sluice'
import type { Descriptor, RateLimitRequest } from '../wire/request.ts'
import { OVER_LIMIT, type RateLimitResponse } from '../wire/response.ts'
import { responseOf } from './answer.ts'
import { attributesOf } from './blocking-domain.ts'
import { answerFor } from './decision-answer.ts'
import { BadRequest, isPromise, unavailable, type Domain } from './domain.ts'
import type { HeaderDialect } from '../../config/envoy-options.ts'
import { DEFAULT_DIALECTS } from './headers.ts'

type AnyLimiter = Limiter | SyncLimiter

/** One descriptor as a question to the limiter. */
interface Question {
  readonly attributes: Attributes
  readonly cost: number
  readonly kind: 'take' | 'look' | 'refund'
}

/**
 * A policy as a domain. A request of one descriptor is one check. Of several, all are checked in the same turn of
 * the event loop, which is one round trip; when one refuses, what the others took is handed back at once. On a
 * remote store others may see the units as taken in between.
 */
export function policyDomain(
  limiter: AnyLimiter,
  headers: readonly HeaderDialect[] = DEFAULT_DIALECTS,
): Domain {
  return new PolicyDomain(limiter, headers)
}

class PolicyDomain implements Domain {
  private readonly limiter: AnyLimiter
  private readonly headers: readonly HeaderDialect[]

  constructor(limiter: AnyLimiter, headers: readonly HeaderDialect[]) {
    this.limiter = limiter
    this.headers = headers
  }

  decide(request: RateLimitRequest): MaybePromise<RateLimitResponse> {
    const questions = request.descriptors.map((descriptor) => questionOf(descriptor, request.hits))
    const decided = this.askAll(questions)
    if (!questions.some(({ kind }) => kind === 'refund')) return decided
    return this.handBack(questions, decided)
  }

  private askAll(questions: readonly Question[]): MaybePromise<RateLimitResponse> {
    const decisions = questions.map((question) => this.attempt(question))
    if (!decisions.some(isPromise)) return this.conclude(questions, decisions as Decision[])
    return Promise.allSettled(decisions.map(later)).then((settled) => {
      const made = settled.map((one) => (one.status === 'fulfilled' ? one.value : undefined))
      const failure = settled.find((one) => one.status === 'rejected')
      if (failure === undefined) return this.conclude(questions, made as Decision[])
      return Promise.resolve(this.giveBack(questions, made)).then(() => {
        throw failure.reason as Error
      })
    })
  }

  /** Mistakes come by promise too, so that nobody is left out of what is handed back. */
  private attempt({ kind, attributes, cost }: Question): MaybePromise<Decision> {
    try {
      if (kind === 'take') return this.limiter.check(attributes, cost)
      // A look asks for one unit, so that its answer is what the next request would hear.
      return this.limiter.peek(attributes, kind === 'look' ? 1 : 0)
    } catch (error) {
      return Promise.reject(error as Error)
    }
  }

  private conclude(
    questions: readonly Question[],
    decisions: readonly Decision[],
  ): MaybePromise<RateLimitResponse> {
    const isUnavailable = decisions.some(({ reason }) => reason === 'unavailable')
    const response = responseOf(decisions.map(answerFor), this.headers)
    if (response.overallCode !== OVER_LIMIT && !isUnavailable) return response
    const end = (): RateLimitResponse => {
      if (isUnavailable) throw unavailable()
      return response
    }
    const given = this.giveBack(questions, decisions)
    return isPromise(given) ? given.then(end) : end()
  }

  /** Hands back what was taken for a request that is refused or cannot be decided. */
  private giveBack(
    questions: readonly Question[],
    decisions: readonly (Decision | undefined)[],
  ): MaybePromise<void> {
    const given = decisions.map((decision, i) => {
      const { kind, attributes, cost } = questions[i]!
      const isPaid = kind === 'take' && decision?.allowed === true && decision.outcomes.length > 0
      return isPaid ? this.limiter.refund(attributes, cost, decision.at) : undefined
    })
    if (given.some(isPromise)) return Promise.allSettled(given.map(later)).then(() => undefined)
  }

  /** Units go back unless a descriptor refuses; then everything is looked at once more. */
  private async handBack(
    questions: readonly Question[],
    decided: MaybePromise<RateLimitResponse>,
  ): Promise<RateLimitResponse> {
    const response = await decided
    if (response.overallCode === OVER_LIMIT) return response
    for (const { kind, attributes, cost } of questions)
      if (kind === 'refund') await this.limiter.refund(attributes, cost)
    const looks = questions.map((question) => this.limiter.peek(question.attributes, 0))
    return responseOf((await Promise.all(looks.map(later))).map(answerFor), this.headers)
  }
}

function questionOf(descriptor: Descriptor, requestHits: number): Question {
  const { limit, hits, negative } = descriptor
  if (limit !== undefined)
    throw new BadRequest(
      'a descriptor sets a limit of its own; accepted: in domains of descriptors, not in policies',
    )
  const attributes = attributesOf(descriptor)
  const cost = hits ?? (requestHits || 1)
  return { attributes, cost, kind: cost === 0 ? 'look' : negative ? 'refund' : 'take' }
}

async function later<T>(value: MaybePromise<T>): Promise<T> {
  return value
}
