// The method ShouldRateLimit: from the bytes of a request, through a domain, to the bytes of a response.
import { isPromise, type MaybePromise } from 'sluice'
import { NO_LIMIT } from './decide/descriptor-answer.ts'
import { BadRequest, type Domains } from './decide/domain.ts'
import { FRAME_HEADER, sealed } from './grpc/frames.ts'
import type { UnaryMethod } from './grpc/server.ts'
import { decodeRequest, type RateLimitRequest } from './wire/request.ts'
import { encodeResponse, OK, type RateLimitResponse } from './wire/response.ts'

/** The service's name, and its only method. */
export const RATE_LIMIT_SERVICE = 'envoy.service.ratelimit.v3.RateLimitService'
export const SHOULD_RATE_LIMIT: string = `/${RATE_LIMIT_SERVICE}/ShouldRateLimit`

/** Called with every response; `known` is false when no domain has the name. */
export type OnResponse = (
  request: RateLimitRequest,
  response: RateLimitResponse,
  known: boolean,
) => void

/** Options of the method. */
export interface ShouldRateLimitOptions {
  readonly onResponse?: OnResponse
  /** Descriptors of one request, at most. Default 128. */
  readonly maxDescriptors?: number | undefined
}

/** The method. An unknown domain is not limited. */
export function shouldRateLimit(
  domains: Domains,
  { onResponse, maxDescriptors }: ShouldRateLimitOptions = {},
): UnaryMethod {
  const finish = (
    request: RateLimitRequest,
    response: RateLimitResponse,
    known: boolean,
  ): Buffer => {
    onResponse?.(request, response, known)
    return sealed(encodeResponse(response, FRAME_HEADER))
  }
  return (message) => {
    const request = decodeRequest(message, maxDescriptors)
    const response = decideRequest(domains, request)
    if (!isPromise(response))
      return finish(request, response, domains.get(request.domain) !== undefined)
    return response.then((response) => finish(request, response, true))
  }
}

/** Decides a request in its domain. Throws {@link BadRequest} for requests that make no sense. */
export function decideRequest(
  domains: Domains,
  request: RateLimitRequest,
): MaybePromise<RateLimitResponse> {
  checkRequest(request)
  return domains.get(request.domain)?.decide(request) ?? unlimited(request)
}

function unlimited({ descriptors }: RateLimitRequest): RateLimitResponse {
  return {
    overallCode: OK,
    statuses: descriptors.map(() => NO_LIMIT),
    responseHeaders: [],
    dynamicMetadata: undefined,
    unenforced: 0,
  }
}

/** What the definitions of the protocol demand of a request. */
function checkRequest({ domain, descriptors }: RateLimitRequest): void {
  if (domain === '') throw new BadRequest('domain is empty; accepted: the name of a domain')
  if (descriptors.length === 0)
    throw new BadRequest('there are no descriptors; accepted: one or more')
  for (const { entries } of descriptors) {
    if (entries.length === 0)
      throw new BadRequest('a descriptor has no entries; accepted: one or more')
    for (const { key } of entries)
      if (key === '') throw new BadRequest('an entry has an empty key; accepted: any other string')
  }
}
