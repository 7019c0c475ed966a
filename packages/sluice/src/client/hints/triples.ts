// Limits told in three fields (limit, remaining, reset), as the early drafts and most providers do.
import type { Millis } from '../../time/clock.ts'
import { waitUntilReset } from './instants.ts'
import { countOf, quotaOf, type HeaderReader, type Quota } from './quota.ts'
import { policiesOf, policyFor } from './rate-limit-fields.ts'

/** The standard's names, everybody's, and Twitter's. */
const PREFIXES = ['ratelimit-', 'x-ratelimit-', 'x-rate-limit-']

/** The windows of which Kong tells one by one. */
const WINDOWS: readonly (readonly [string, Millis])[] = [
  ['second', 1000],
  ['minute', 60_000],
  ['hour', 3_600_000],
  ['day', 86_400_000],
]

/** The first family of fields that says something, with its windows and kinds of units. */
export function triples(headers: HeaderReader, there: Millis): readonly Quota[] {
  for (const prefix of PREFIXES) {
    const quotas = [
      plain(headers, prefix, there),
      // OpenAI counts two things, each with its own three fields.
      counted(headers, prefix, 'requests', there),
      counted(headers, prefix, 'tokens', there),
      ...WINDOWS.map(([name, window]) => windowed(headers, prefix, name, window)),
    ].filter((quota) => quota !== undefined)
    if (quotas.length > 0) return quotas
  }
  return []
}

function plain(headers: HeaderReader, prefix: string, there: Millis): Quota | undefined {
  const text = headers.get(`${prefix}limit`)
  // `10, 10;w=1, 1000;w=3600`: the limit nearest to being reached, then all of them.
  const [first, ...others] = policiesOf(text)
  const quota = countOf(text) ?? first?.quota
  const policies = others.length > 0 ? others : policiesOf(headers.get('ratelimit-policy'))
  const after = headers.get(`${prefix}reset-after`)
  return quotaOf({
    quota,
    window: policyFor(policies, quota)?.window,
    remaining: countOf(headers.get(`${prefix}remaining`)),
    resetAfter:
      (after ? waitUntilReset(after, there) : undefined) ??
      waitUntilReset(headers.get(`${prefix}reset`) ?? '', there),
  })
}

function counted(
  headers: HeaderReader,
  prefix: string,
  unit: string,
  there: Millis,
): Quota | undefined {
  return quotaOf({
    name: unit,
    unit,
    quota: countOf(headers.get(`${prefix}limit-${unit}`)),
    remaining: countOf(headers.get(`${prefix}remaining-${unit}`)),
    resetAfter: waitUntilReset(headers.get(`${prefix}reset-${unit}`) ?? '', there),
  })
}

function windowed(
  headers: HeaderReader,
  prefix: string,
  name: string,
  window: Millis,
): Quota | undefined {
  const quota = countOf(headers.get(`${prefix}limit-${name}`))
  const remaining = countOf(headers.get(`${prefix}remaining-${name}`))
  return quota === undefined ? undefined : quotaOf({ name, quota, window, remaining })
}
