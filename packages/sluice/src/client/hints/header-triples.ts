// Reads limits sent in three fields (limit, remaining, reset), as the early drafts and most providers do.
import type { Millis } from '../../time/clock.ts'
import { countOf, quotaOf, type HeaderReader, type Quota } from './quota.ts'
import { policiesOf, policyFor } from './rate-limit-fields.ts'
import { waitUntilReset } from './waits.ts'

/** The standard's names, the common ones, and Twitter's. */
const PREFIXES = ['ratelimit-', 'x-ratelimit-', 'x-rate-limit-']

/** The windows for which Kong sends separate fields. */
const WINDOWS: readonly (readonly [string, Millis])[] = [
  ['second', 1000],
  ['minute', 60_000],
  ['hour', 3_600_000],
  ['day', 86_400_000],
]

/** The quotas of the first prefix with a readable field. */
export function readHeaderTriples(headers: HeaderReader, serverNow: Millis): readonly Quota[] {
  for (const prefix of PREFIXES) {
    const quotas = [
      plain(headers, prefix, serverNow),
      // OpenAI limits requests and tokens, with three fields each.
      counted(headers, prefix, 'requests', serverNow),
      counted(headers, prefix, 'tokens', serverNow),
      ...WINDOWS.map(([name, window]) => windowed(headers, prefix, name, window)),
    ].filter((quota) => quota !== undefined)
    if (quotas.length > 0) return quotas
  }
  return []
}

function plain(headers: HeaderReader, prefix: string, serverNow: Millis): Quota | undefined {
  const text = headers.get(`${prefix}limit`)
  // `10, 10;w=1, 1000;w=3600`: the limit closest to being reached, then all policies.
  const [first, ...others] = policiesOf(text)
  const quota = countOf(text) ?? first?.quota
  const after = headers.get(`${prefix}reset-after`)
  const own = {
    quota,
    remaining: countOf(headers.get(`${prefix}remaining`)),
    resetAfter:
      (after ? waitUntilReset(after, serverNow) : undefined) ??
      waitUntilReset(headers.get(`${prefix}reset`) ?? '', serverNow),
  }
  // RateLimit-Policy only adds to fields of this prefix. Alone it must not hide the fields of another prefix.
  if (quotaOf(own) === undefined) return undefined
  const policies = others.length > 0 ? others : policiesOf(headers.get('ratelimit-policy'))
  const policy = policyFor(policies, quota)
  if (quota === undefined && policy !== undefined) return quotaOf({ ...own, ...policy })
  return quotaOf({ ...own, window: policy?.window })
}

function counted(
  headers: HeaderReader,
  prefix: string,
  unit: string,
  serverNow: Millis,
): Quota | undefined {
  return quotaOf({
    name: unit,
    unit,
    quota: countOf(headers.get(`${prefix}limit-${unit}`)),
    remaining: countOf(headers.get(`${prefix}remaining-${unit}`)),
    resetAfter: waitUntilReset(headers.get(`${prefix}reset-${unit}`) ?? '', serverNow),
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
