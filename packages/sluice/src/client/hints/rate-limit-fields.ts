// The RateLimit and RateLimit-Policy fields, of draft 7 (dictionary) and of drafts 8 and later (lists of named items).
import { REQUESTS, quotaOf, type HeaderReader, type Quota } from './quota.ts'
import { parseDictionary, parseList, type Member } from './structured-fields.ts'

/** A policy: `100;w=60` or `"burst";q=100;w=60`. */
interface Policy {
  readonly name: string | undefined
  readonly unit: string
  readonly quota: number
  readonly window: number | undefined
}

/** What the two fields say; undefined when there is no RateLimit field that can be read. */
export function rateLimitFields(headers: HeaderReader): readonly Quota[] | undefined {
  const policies = policiesOf(headers.get('ratelimit-policy'))
  const text = headers.get('ratelimit')
  if (text === null || text === undefined) return undefined
  const items = parseList(text)
  if (items !== undefined) return named(items, policies)
  const members = parseDictionary(text)
  return members === undefined ? undefined : combined(members, policies)
}

/** The policies of a RateLimit-Policy field, or of those behind the first member of RateLimit-Limit. */
export function policiesOf(text: string | null | undefined): readonly Policy[] {
  const policies: Policy[] = []
  for (const { kind, value, parameters } of parseList(text ?? '') ?? []) {
    const window = parameter(parameters, 'w')
    const unit = parameters.get('qu')?.value
    const isNamed = kind === 'string' || kind === 'token'
    const quota = isNamed ? parameter(parameters, 'q') : kind === 'integer' ? Number(value) : -1
    if (quota === undefined || quota < 0 || (window ?? 1) < 0) continue
    policies.push({
      name: isNamed ? (value as string) : undefined,
      unit: typeof unit === 'string' ? unit : REQUESTS,
      quota,
      window: window === 0 ? undefined : millisOf(window),
    })
  }
  return policies
}

/** The policy whose quota a response without names means: the one with that number, or the only one. */
export function policyFor(
  policies: readonly Policy[],
  quota: number | undefined,
): Policy | undefined {
  const same = policies.find((policy) => policy.quota === quota)
  return same ?? (policies.length === 1 ? policies[0] : undefined)
}

/** Drafts 8 and later: `"burst";r=50;t=30`; the proposed `a` and `w` are the same. A malformed item is skipped alone. */
function named(items: readonly Member[], policies: readonly Policy[]): readonly Quota[] {
  const quotas: Quota[] = []
  // By name, so that a field full of names is read in one go.
  const byName = new Map(policies.toReversed().map((policy) => [policy.name, policy]))
  const told = new Set<string | undefined>()
  for (const { kind, value, parameters } of items) {
    if (kind !== 'string' && kind !== 'token') continue
    const remaining = parameter(parameters, parameters.has('r') ? 'r' : 'a')
    const resetAfter = parameter(parameters, parameters.has('t') ? 't' : 'w')
    if (remaining === undefined || remaining < 0 || (resetAfter ?? 0) < 0) continue
    const policy = byName.get(value as string)
    told.add(value as string)
    const quota = quotaOf({
      name: value as string,
      unit: policy?.unit,
      quota: policy?.quota,
      window: policy?.window,
      remaining,
      resetAfter: millisOf(resetAfter),
    })
    if (quota !== undefined) quotas.push(quota)
  }
  const silent = policies.filter(({ name }) => !told.has(name))
  for (const { name, unit, quota, window } of silent)
    quotas.push(quotaOf({ name, unit, quota, window })!)
  return quotas
}

/** Draft 7: `limit=100, remaining=50, reset=5`. */
function combined(
  members: ReadonlyMap<string, Member>,
  policies: readonly Policy[],
): readonly Quota[] | undefined {
  const [quota, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => {
    const member = members.get(name)
    return member?.kind === 'integer' && Number(member.value) >= 0
      ? Number(member.value)
      : undefined
  })
  const found = quotaOf({
    quota,
    window: policyFor(policies, quota)?.window,
    remaining,
    resetAfter: millisOf(reset),
  })
  return found === undefined ? undefined : [found]
}

/** Fifteen digits of seconds are more milliseconds than whole numbers hold. */
function millisOf(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.min(seconds * 1000, Number.MAX_SAFE_INTEGER)
}

/** An integer parameter; undefined when it is missing, -1 when it is of another type. */
function parameter(parameters: Member['parameters'], name: string): number | undefined {
  const item = parameters.get(name)
  if (item === undefined) return undefined
  return item.kind === 'integer' ? (item.value as number) : -1
}
