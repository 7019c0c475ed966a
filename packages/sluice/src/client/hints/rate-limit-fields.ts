// Reads RateLimit and RateLimit-Policy, of draft 7 (dictionary) and of drafts 8 and later (lists of named items).
import { REQUESTS, quotaOf, type HeaderReader, type Quota } from './quota.ts'
import { parseDictionary, parseList, type Member } from './structured-fields.ts'

/** A policy: `100;w=60` or `"burst";q=100;w=60`. */
export interface QuotaPolicy {
  readonly name: string | undefined
  readonly unit: string
  readonly quota: number
  readonly window: number | undefined
}

/** The quotas of a RateLimit field with their policies; undefined if there is none with a valid member. */
export function readRateLimitFields(headers: HeaderReader): readonly Quota[] | undefined {
  const text = headers.get('ratelimit')
  if (text === null || text === undefined) return undefined
  const policies = policiesOf(headers.get('ratelimit-policy'))
  const items = parseList(text)
  if (items !== undefined) return named(items, policies)
  const members = parseDictionary(text)
  return members === undefined ? undefined : combined(members, policies)
}

/** The quotas of a RateLimit-Policy field alone. */
export function readPolicyField(headers: HeaderReader): readonly Quota[] {
  return policiesOf(headers.get('ratelimit-policy')).map((policy) => quotaOf({ ...policy })!)
}

/** The policies of RateLimit-Policy, or of the further members of RateLimit-Limit. A malformed member is skipped. */
export function policiesOf(text: string | null | undefined): readonly QuotaPolicy[] {
  const policies: QuotaPolicy[] = []
  for (const { kind, value, parameters } of parseList(text ?? '') ?? []) {
    const window = parameter(parameters, 'w')
    const unit = parameters.get('qu')?.value
    const isNamed = kind === 'string' || kind === 'token'
    const quota = isNamed ? parameter(parameters, 'q') : kind === 'integer' ? Number(value) : -1
    if (quota === undefined || quota < 0 || (window ?? 1) < 1) continue
    policies.push({
      name: isNamed ? (value as string) : undefined,
      unit: typeof unit === 'string' ? unit : REQUESTS,
      quota,
      window: millisOf(window),
    })
  }
  return policies
}

/** The policy of a quota without a name: the one with the same number, or the only one if the number is unknown. */
export function policyFor(
  policies: readonly QuotaPolicy[],
  quota: number | undefined,
): QuotaPolicy | undefined {
  if (quota !== undefined) return policies.find((policy) => policy.quota === quota)
  return policies.length === 1 ? policies[0] : undefined
}

/** Drafts 8 and later: `"burst";r=50;t=30`, or with the proposed names `a` and `w`. A malformed item is skipped. */
function named(
  items: readonly Member[],
  policies: readonly QuotaPolicy[],
): readonly Quota[] | undefined {
  const quotas: Quota[] = []
  // A Map, so that a field with thousands of names takes linear time.
  const byName = new Map(policies.toReversed().map((policy) => [policy.name, policy]))
  const seen = new Set<string | undefined>()
  for (const { kind, value, parameters } of items) {
    if (kind !== 'string' && kind !== 'token') continue
    const remaining = parameter(parameters, parameters.has('r') ? 'r' : 'a')
    const resetAfter = parameter(parameters, parameters.has('t') ? 't' : 'w')
    if (remaining === undefined || remaining < 0 || (resetAfter ?? 0) < 0) continue
    const name = value as string
    const policy = byName.get(name)
    seen.add(name)
    quotas.push(quotaOf({ ...policy, name, remaining, resetAfter: millisOf(resetAfter) })!)
  }
  if (quotas.length === 0) return undefined
  for (const policy of policies) if (!seen.has(policy.name)) quotas.push(quotaOf({ ...policy })!)
  return quotas
}

/** Draft 7: `limit=100, remaining=50, reset=5`. */
function combined(
  members: ReadonlyMap<string, Member>,
  policies: readonly QuotaPolicy[],
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

/** Capped, because fifteen digits of seconds exceed the safe integers in milliseconds. */
function millisOf(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.min(seconds * 1000, Number.MAX_SAFE_INTEGER)
}

/** An integer parameter; undefined if it is missing, -1 if it is of another type. */
function parameter(parameters: Member['parameters'], name: string): number | undefined {
  const item = parameters.get(name)
  if (item === undefined) return undefined
  return item.kind === 'integer' ? (item.value as number) : -1
}
