// A refusal as Nest says it: an exception, for filters to answer.
import { HttpException } from '@nestjs/common'
import type { Decision } from 'sluice'
import type { RefusalReply } from 'sluice/http'
import { nestAdapter, type NestResponse } from './nest-adapter.ts'

/** Thrown for a request that is refused. Its response is the problem; the header fields are on the response already. */
export class RateLimitException extends HttpException {
  /** Null when nothing could be decided. */
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

/** The exception of a refusal, whose header fields it writes. */
export function exceptionOf(
  { fields, body, status }: RefusalReply,
  decision: Decision | null,
  response: NestResponse,
): RateLimitException {
  for (const [name, value] of fields) nestAdapter.set(response, name, value)
  return new RateLimitException(JSON.parse(body) as Record<string, unknown>, status, decision)
}
