// The keys that matter now, rule by rule, as the API shows them.
import type { Millis } from 'sluice'
import { RequestError } from '../../net/problem.ts'
import type { Fleet } from '../../observe/fleet.ts'
import type { NamedKey } from '../../observe/keys.ts'
import { seenKeys, type SeenKeys } from '../../observe/seen-keys.ts'
import { spreadOf, type TopKeys } from '../../observe/space-saving.ts'

/** A key with a count; at most `error` of it may have been another key's. A sampled count is off by up to `spread`. */
interface ShownKey {
  readonly attributes: NamedKey
  readonly count: number
  readonly error: number
  readonly spread: number
}

/** A key that was refused, and how often since the service began. */
export interface Offender {
  readonly policy: string
  readonly rule: string
  readonly attributes: NamedKey
  readonly refused: number
  readonly error: number
}

/** The keys refused most over all rules. */
export async function offenders(
  fleet: Fleet,
  since: Millis,
  most: number,
): Promise<{
  readonly since: string
  readonly processes: number
  readonly offenders: readonly Offender[]
}> {
  const { parts, processes } = await fleet.rules()
  const all = seenKeys(parts, most).flatMap(({ policy, rule, refused }) =>
    shownKeys(refused).map(({ attributes, count, error, spread }) => ({
      policy,
      rule,
      attributes,
      refused: count,
      error,
      spread,
    })),
  )
  const sorted = all.toSorted((a, b) => b.refused - a.refused).slice(0, most)
  return { since: new Date(since).toISOString(), processes, offenders: sorted }
}

/** What to show of the keys. */
export interface TopKeysQuery {
  readonly policy?: string | undefined
  readonly rule?: string | undefined
  readonly most: number
}

/** The name of a rule, with that of its policy or domain. */
export interface RuleInForce {
  readonly policy: string
  readonly rule: string
}

/**
 * The keys of each rule: refused most, busiest, at zero, and how many there are. Throws a {@link RequestError} for a name
 * that is neither in force nor seen.
 */
export async function topKeys(
  fleet: Fleet,
  inForce: readonly RuleInForce[],
  query: TopKeysQuery,
): Promise<object> {
  const { parts, processes, complete } = await fleet.rules()
  refuseUnknown(query, [...inForce, ...parts])
  const wanted = parts.filter(
    ({ policy, rule }) =>
      (query.policy === undefined || policy === query.policy) &&
      (query.rule === undefined || rule === query.rule),
  )
  return {
    since: new Date(fleet.since).toISOString(),
    processes,
    complete,
    rules: seenKeys(wanted, query.most).map((seen) => shownRule(seen, Date.now())),
  }
}

/** Says which names there are if there is no such policy, or no such rule. */
function refuseUnknown({ policy, rule }: TopKeysQuery, known: readonly RuleInForce[]): void {
  const own = known.filter((one) => policy === undefined || one.policy === policy)
  if (policy !== undefined && own.length === 0) {
    const detail = `there is no policy of that name; accepted: ${someOf(known.map((one) => one.policy))}`
    throw new RequestError(404, 'unknown-policy', detail, 'policy')
  }
  if (rule === undefined || own.some((one) => one.rule === rule)) return
  const where = policy === undefined ? '' : ` in policy ${policy}`
  const detail = `there is no rule of that name${where}; accepted: ${someOf(own.map((one) => one.rule))}`
  throw new RequestError(404, 'unknown-rule', detail, 'rule')
}

/** A few names are a help, thousands are not. */
function someOf(names: readonly string[]): string {
  const all = [...new Set(names)].filter((name) => name !== '')
  if (all.length === 0) return 'none'
  return all.length <= 10 ? all.join(', ') : `${all.slice(0, 10).join(', ')}, …`
}

function shownRule(seen: SeenKeys, now: Millis): object {
  const { policy, rule, by, distinct, distinctError } = seen
  return {
    policy,
    rule,
    by,
    distinct,
    distinctError,
    refused: shownKeys(seen.refused),
    busiest: shownKeys(seen.busiest),
    atZero: seen.atZero.map(({ about, since }) => ({
      attributes: about,
      since: new Date(since).toISOString(),
      seconds: Math.max(0, Math.round((now - since) / 1000)),
    })),
  }
}

/** Keys as data, heaviest first. */
export function shownKeys({ entries }: TopKeys<NamedKey>): readonly ShownKey[] {
  return entries.map((entry) => {
    const { about, count, error } = entry
    return { attributes: about, count, error, spread: spreadOf(entry) }
  })
}
