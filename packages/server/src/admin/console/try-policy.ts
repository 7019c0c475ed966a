// Tries a changed file on the last requests: both policies decide all of them again, in memory, at the recorded times.
import { setImmediate } from 'node:timers/promises'
import { createLimiter, memoryStore, type Decision, type Millis, type Policy } from 'sluice'
import { problemsApart } from '../../config/read-apart.ts'
import { readConfig } from '../../config/read-config.ts'
import type { RecentRequest } from '../../observe/recent-traffic.ts'
import { policyChanges } from '../../reload/policy-changes.ts'

/** Rules that are checked before others get their turn. */
const SLICE_RULE_CHECKS = 2000
/** Rules that one trial checks in all; with more rules it is tried on fewer requests, the newest. */
const MAX_RULE_CHECKS = 2_000_000
/** Rules of one policy: a request is checked by all of them in one turn, and each is compared with the others. */
const MAX_RULES = 1000
/** Keys that are named. */
const MAX_KEYS = 10
const MAX_PROBLEMS = 50

/** What a change would do, or what is wrong with it. */
export interface Trial {
  readonly problems: readonly {
    readonly line: number | null
    readonly column: number | null
    readonly message: string
  }[]
  /** What differs from the policies in force, each as a short line. */
  readonly changes: readonly string[]
  /** Null when there are problems. */
  readonly result: TrialResult | null
}

/** Both policies on the same requests, from empty counts. */
interface TrialResult {
  readonly requests: number
  /** Milliseconds between the first and the last request. */
  readonly span: Millis
  readonly refusedBefore: number
  readonly refusedAfter: number
  readonly newlyRefused: number
  readonly newlyAllowed: number
  /** Whom the change would refuse most, by the rule that refuses. */
  readonly keys: readonly {
    readonly policy: string
    readonly rule: string
    readonly attributes: Readonly<Record<string, string>>
    readonly newlyRefused: number
  }[]
}

/** Reads the text as a configuration and, when it is valid, decides the requests by it. */
export async function tryPolicy(
  text: string,
  current: readonly Policy[],
  requests: readonly RecentRequest[],
): Promise<Trial> {
  const { problems: apart } = await problemsApart(text, 'sluice.yaml')
  const { config, problems } =
    apart.length > 0 ? { config: undefined, problems: apart } : readConfig(text, 'sluice.yaml')
  if (config === undefined) {
    return {
      problems: problems.slice(0, MAX_PROBLEMS).map(({ line, column, message }) => ({
        line: line ?? null,
        column: column ?? null,
        message,
      })),
      changes: [],
      result: null,
    }
  }
  const large = config.policies.find(({ rules }) => rules.length > MAX_RULES)
  if (large !== undefined) {
    const message = `policy ${large.name} has ${large.rules.length} rules; a trial takes at most ${MAX_RULES} of one policy: use sluice diff --against`
    return { problems: [{ line: null, column: null, message }], changes: [], result: null }
  }
  const rules = [...current, ...config.policies].reduce((sum, one) => sum + one.rules.length, 0)
  const tried = requests.slice(-Math.ceil(MAX_RULE_CHECKS / Math.max(1, rules)))
  const slice = Math.ceil(SLICE_RULE_CHECKS / Math.max(1, rules))
  return {
    problems: [],
    changes: policyChanges(current, config.policies),
    result: await compare(current, config.policies, tried, slice),
  }
}

async function compare(
  before: readonly Policy[],
  after: readonly Policy[],
  requests: readonly RecentRequest[],
  slice: number,
): Promise<TrialResult> {
  let now = 0
  const clock = (): Millis => now
  const old = decider(before, clock)
  const changed = decider(after, clock)
  const counts = { refusedBefore: 0, refusedAfter: 0, newlyRefused: 0, newlyAllowed: 0 }
  const keys = new Map<string, TrialResult['keys'][number] & { newlyRefused: number }>()
  for (const [i, request] of requests.entries()) {
    if (i % slice === slice - 1) await setImmediate()
    now = request.at
    const was = old.decide(request)
    const is = changed.decide(request)
    if (!was.allowed) counts.refusedBefore++
    if (!is.allowed) counts.refusedAfter++
    if (!was.allowed && is.allowed) counts.newlyAllowed++
    if (was.allowed && !is.allowed) {
      counts.newlyRefused++
      const key = keyOf(request, is, after)
      const id = JSON.stringify(key)
      const known = keys.get(id) ?? { ...key, newlyRefused: 0 }
      known.newlyRefused++
      keys.set(id, known)
    }
  }
  old.close()
  changed.close()
  return {
    requests: requests.length,
    span: requests.length === 0 ? 0 : requests.at(-1)!.at - requests[0]!.at,
    ...counts,
    keys: [...keys.values()].toSorted((a, b) => b.newlyRefused - a.newlyRefused).slice(0, MAX_KEYS),
  }
}

function decider(policies: readonly Policy[], clock: () => Millis) {
  const store = memoryStore({ clock })
  const limiters = new Map(
    policies.map((policy) => [policy.name, createLimiter({ policy, store })]),
  )
  return {
    decide: ({ policy, attributes, cost }: RecentRequest): Pick<Decision, 'allowed' | 'rule'> =>
      limiters.get(policy)?.check(attributes, cost) ?? { allowed: true, rule: null },
    close: () => store.close(),
  }
}

/** The rule that refuses, and the attributes that it counts by. */
function keyOf(
  { policy, attributes }: RecentRequest,
  { rule }: Pick<Decision, 'rule'>,
  policies: readonly Policy[],
): Omit<TrialResult['keys'][number], 'newlyRefused'> {
  const found = policies
    .find(({ name }) => name === policy)
    ?.rules.find(({ name }) => name === rule)
  const counted = (found?.by ?? []).map((name) => [name, String(attributes[name] ?? '')])
  return { policy, rule: rule ?? '', attributes: Object.fromEntries(counted) }
}
