// Response headers that the proxy adds for the client: Retry-After, and the dialects of the library's table.
import { headerFields, type ReportedLimit } from 'sluice/http'
import type { EnvoyHeaders } from '../../config/config.ts'
import { OVER_LIMIT, type HeaderValue } from '../wire/response.ts'
import type { DescriptorAnswer } from './descriptor-answer.ts'

/** The headers of a listener that is not configured otherwise. */
export const DEFAULT_HEADERS: readonly EnvoyHeaders[] = ['retry-after']

/** Writes the headers of a response. */
export type WriteHeaders = (
  answers: readonly DescriptorAnswer[],
  isOver: boolean,
) => readonly HeaderValue[]

const NONE: readonly HeaderValue[] = []

/** Makes the function that writes the headers of a response; there are none when no limit applied. */
export function headerWriter(names: readonly EnvoyHeaders[]): WriteHeaders {
  const dialects = names.filter((name) => name !== 'retry-after')
  const hasRetryAfter = dialects.length < names.length
  const fieldsOf = dialects.length === 0 ? undefined : headerFields(dialects)
  return (answers, isOver) => {
    const retry = hasRetryAfter && isOver ? retryAfter(answers) : NONE
    if (fieldsOf === undefined) return retry
    const fields = fieldsOf(reportedIn(answers))
    return [...retry, ...fields.map(([key, value]) => ({ key, value }))]
  }
}

/** The longest wait among the refusals, blocks included; none when a limit can never allow the request. */
function retryAfter(answers: readonly DescriptorAnswer[]): readonly HeaderValue[] {
  let seconds = 1
  for (const { code, outcome, secondsUntilReset = 0 } of answers) {
    if (code !== OVER_LIMIT) continue
    if (outcome?.retryAfter === null) return NONE
    seconds = Math.max(seconds, secondsUntilReset)
  }
  return [{ key: 'Retry-After', value: String(seconds) }]
}

/** The enforced limits; one without a name has its place in the list as its name. */
function reportedIn(answers: readonly DescriptorAnswer[]): readonly ReportedLimit[] {
  const reported: ReportedLimit[] = []
  for (const { outcome, currentLimit } of answers) {
    if (outcome === undefined || outcome.shadow || outcome.hidden) continue
    const { limit, allowed, remaining, retryAfter, resetAfter, availableAfter, source } = outcome
    const rule = currentLimit?.name || String(reported.length + 1)
    reported.push({
      rule,
      limit,
      allowed,
      remaining,
      retryAfter,
      resetAfter,
      availableAfter,
      source,
    })
  }
  return reported
}
