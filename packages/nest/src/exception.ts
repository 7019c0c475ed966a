// A refusal as Nest says it: an exception, for filters to answer.
import { HttpException } from '@nestjs/common'
import type { Decision } from 'sluice'

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
