// Response headers that the proxy adds for the client, in the dialects that are switched on.
import type { Limit, Verdict } from 'sluice'
import type { HeaderDialect } from '../../config/envoy-options.ts'
import { OVER_LIMIT, type Code, type DescriptorStatus, type HeaderValue } from '../wire/response.ts'

/** The dialects of a listener that says nothing about them. */
export const DEFAULT_DIALECTS: readonly HeaderDialect[] = ['retry-after']

const NONE: readonly HeaderValue[] = []
/** The largest integer of a structured field. */
const LARGEST = 999_999_999_999_999

/** A status, together with the limit and the verdict that it comes from; neither when no limit spoke. */
export interface Spoken extends DescriptorStatus {
  readonly limit: Limit | undefined
  readonly verdict: Verdict | undefined
}

type Limited = Spoken & { limit: Limit; verdict: Verdict }

/** The headers of a response; none when nothing was limited. */
export function headersFor(
  answers: readonly Spoken[],
  overall: Code,
  dialects: readonly HeaderDialect[],
): readonly HeaderValue[] {
  if (
    dialects.length === 0 ||
    (dialects.length === 1 && dialects[0] === 'retry-after' && overall !== OVER_LIMIT)
  )
    return NONE
  const limited = answers.filter((answer): answer is Limited => answer.limit !== undefined)
  return dialects.flatMap((dialect) => {
    if (dialect === 'retry-after') return overall === OVER_LIMIT ? retryAfter(answers) : []
    return limited.length === 0 ? [] : HEADERS[dialect](limited)
  })
}

const HEADERS: Readonly<
  Record<Exclude<HeaderDialect, 'retry-after'>, (limited: Limited[]) => HeaderValue[]>
> = {
  ratelimit: structured,
  'ratelimit-triple': (limited) => triple('RateLimit', limited),
  'x-ratelimit': (limited) => triple('X-RateLimit', limited),
}

/** The longest wait among what refuses, blocks too; none when a limit can never allow the request. */
function retryAfter(answers: readonly Spoken[]): HeaderValue[] {
  const refusing = answers.filter(({ code }) => code === OVER_LIMIT)
  if (refusing.some(({ verdict }) => verdict?.retryAfter === null)) return []
  let seconds = 1
  for (const { secondsUntilReset = 0 } of refusing) seconds = Math.max(seconds, secondsUntilReset)
  return [{ key: 'Retry-After', value: String(seconds) }]
}

function structured(limited: Limited[]): HeaderValue[] {
  const names = limited.map(({ currentLimit }, i) => quoted(currentLimit?.name || `${i + 1}`))
  const policies = limited.map(({ limit }, i) => {
    // For buckets: how much at once, and how long an empty one takes to fill.
    const window = limit.quota === 0 ? limit.window : (limit.burst * limit.window) / limit.quota
    return `${names[i]};q=${whole(limit.burst)};w=${Math.max(1, Math.ceil(window / 1000))}`
  })
  const states = limited.map(({ verdict }, i) => {
    return `${names[i]};r=${whole(verdict.remaining)};t=${Math.ceil(verdict.availableAfter / 1000)}`
  })
  return [
    { key: 'RateLimit-Policy', value: policies.join(', ') },
    { key: 'RateLimit', value: states.join(', ') },
  ]
}

function triple(prefix: string, limited: Limited[]): HeaderValue[] {
  const nearest = limited.reduce((a, b) => (b.limitRemaining < a.limitRemaining ? b : a))
  return [
    { key: `${prefix}-Limit`, value: String(nearest.limit.burst) },
    { key: `${prefix}-Remaining`, value: String(nearest.verdict.remaining) },
    { key: `${prefix}-Reset`, value: String(nearest.secondsUntilReset ?? 0) },
  ]
}

/** A name as a structured string: printable ASCII, so that none can end the header. */
function quoted(name: string): string {
  return `"${name.replaceAll(/[^\x20-\x7e]/g, '?').replaceAll(/["\\]/g, '\\$&')}"`
}

function whole(value: number): number {
  return Math.min(value, LARGEST)
}
