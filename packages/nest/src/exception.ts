// A refusal as an exception of Nest, for exception filters to answer.
import { HttpException } from '@nestjs/common'
import type { Decision } from 'sluice'
import type { RefusalReply } from 'sluice/http'
import { nestAdapter, type NestResponse } from './nest-adapter.ts'

/** Thrown for a refused request. Its response is the problem; the header fields are on the response already. */
export class RateLimitException extends HttpException {
  /** Null when no decision was possible. */
  readonly decision: Decision | null

  constructor(
    problem: string | Record<string, unknown>,
    status: number,
    decision: Decision | null,
  ) {
    super(problem, status)
    this.decision = decision
  }
}

/** The exception of a refusal; writes the reply's header fields. */
export function exceptionOf(
  { fields, body, status }: RefusalReply,
  decision: Decision | null,
  response: NestResponse,
): RateLimitException {
  let isJson = false
  for (const [name, value] of fields) {
    nestAdapter.set(response, name, value)
    if (name.toLowerCase() === 'content-type') isJson = value.includes('json')
  }
  const problem = isJson ? (JSON.parse(body) as Record<string, unknown>) : body
  return new RateLimitException(problem, status, decision)
}
