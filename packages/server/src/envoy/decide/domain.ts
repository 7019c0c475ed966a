// The seam between the protocol and what decides for a domain.
import { SluiceError, type MaybePromise } from 'sluice'
import type { RateLimitRequest } from '../wire/request.ts'
import type { RateLimitResponse } from '../wire/response.ts'
import type { DescriptorAnswer } from './descriptor-answer.ts'
import type { DescriptorChecks } from './descriptor-checks.ts'

/** Makes the checks of requests. */
export interface DescriptorMatcher {
  /** One entry for each descriptor. Throws {@link BadRequest} for requests that make no sense. */
  match(request: RateLimitRequest): readonly DescriptorChecks[]
  /** What the response carries besides the limits. */
  metadata?(
    request: RateLimitRequest,
    answers: readonly DescriptorAnswer[],
  ): RateLimitResponse['dynamicMetadata']
}

/** Decides the requests of one domain. A reload puts another one in its place. */
export interface Domain {
  /**
   * Charges every descriptor of a request or none of them. Throws, or rejects with, {@link BadRequest} for requests
   * that make no sense and other errors when it cannot decide.
   */
  decide(request: RateLimitRequest): MaybePromise<RateLimitResponse>
}

/** Where the domains of this moment are found; read once per request. */
export interface Domains {
  get(name: string): Domain | undefined
}

/** A request that is invalid, whatever the counts are. */
export class BadRequest extends Error {
  override readonly name = 'BadRequest'
}

/** The rule says to refuse when the store cannot answer; the caller did nothing wrong. */
export function unavailable(): SluiceError {
  return new SluiceError('store-failed', 'the store cannot answer, and the rule is closed then', {
    transient: true,
  })
}
