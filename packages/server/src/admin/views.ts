// The views of the admin API: keys, blocks, overrides, offenders, and the state of the service.
import { systemClock } from 'sluice'
import type { ServiceControls } from '../controls/open-controls.ts'
import { RequestError } from '../net/problem.ts'
import type { CountedDomain } from '../limiters/counted-domains.ts'
import type { Limiters, ServiceContext } from '../limiters/limiters.ts'
import type { Fleet } from '../observe/fleet.ts'
import type { StoreMetrics } from '../metrics/store-metrics.ts'
import type { OpenStore } from '../store/open-store.ts'
import { version } from '../version.ts'
import type { Inspectors } from './keys/inspectors.ts'
import type { KeySource } from '../store/key-source.ts'
import { searchKeys } from './keys/key-search.ts'
import { listedPlaces } from './keys/listed-places.ts'
import { candidates } from './seen/candidates.ts'
import { proxyFindings, ruleFindings, storeFindings } from './seen/findings.ts'
import { storeHealth } from './seen/store-health.ts'
import { offenders, topKeys, type RuleInForce } from './seen/top-keys.ts'
import { why } from './seen/why.ts'
import { blockShown, overrideShown } from './shown.ts'

/** What the views read. */
export interface ViewOptions {
  readonly context: ServiceContext
  readonly controls: ServiceControls
  readonly inspectors: Inspectors
  readonly domains: () => readonly CountedDomain[]
  /** Undefined when the keys cannot be listed from here. */
  readonly source: KeySource
  readonly fleet: Fleet
  /** Reads the counts of some attributes, as the operation `read` does. */
  readonly read: (body: unknown) => Promise<NowRead>
  readonly storeMetrics: StoreMetrics
  readonly opened: OpenStore
  readonly trustedProxies: readonly string[]
}

/** What `read` answers, as far as it is needed here. */
interface NowRead {
  readonly policy: string
  readonly decision: { readonly allowed: boolean }
  readonly explained: readonly string[]
}

/** Answers one GET request. */
export type View = (query: URLSearchParams) => Promise<object> | object

/** The query of each view, by the last part of its path. */
export type ViewName =
  | 'keys'
  | 'keys/top'
  | 'why'
  | 'candidates'
  | 'store'
  | 'doctor'
  | 'blocks'
  | 'overrides'
  | 'offenders'
  | 'state'

/** Every view. */
export function views(options: ViewOptions): Readonly<Record<ViewName, View>> {
  const { context, controls, inspectors, domains, source, fleet, read } = options
  return {
    keys: (query) => {
      known(query, ['policy', 'rule', 'text', 'over', 'limit', 'cursor'])
      return searchKeys(
        {
          policy: query.get('policy') ?? undefined,
          rule: query.get('rule') ?? undefined,
          text: query.get('text') ?? '',
          over: flagIn(query, 'over'),
          limit: numberIn(query, 'limit', 100, 1000),
          cursor: query.get('cursor') ?? undefined,
        },
        listedPlaces(context.limiters.current.policies, domains(), inspectors),
        source,
      )
    },
    'keys/top': (query) => {
      known(query, ['policy', 'rule', 'limit'])
      return topKeys(fleet, rulesInForce(context.limiters.current, domains()), {
        policy: query.get('policy') ?? undefined,
        rule: query.get('rule') ?? undefined,
        most: numberIn(query, 'limit', 10, 50),
      })
    },
    why: (query) => {
      known(query, ['id', 'attribute', 'policy', 'limit'])
      return why(
        {
          id: query.get('id') ?? undefined,
          attributes: attributesIn(query),
          policy: query.get('policy') ?? undefined,
          most: numberIn(query, 'limit', 5, 50),
        },
        {
          fleet,
          blocks: () => controls.live.listBlocks(),
          policies: () => [
            ...context.limiters.current.byName.keys(),
            ...domains().map(({ name }) => name),
          ],
          explainNow: async (policy, attributes) => {
            const isKnown =
              context.limiters.current.byName.has(policy) ||
              domains().some(({ name }) => name === policy)
            if (!isKnown) return undefined
            const { decision, explained } = await read({ policy, attributes })
            return { policy, allowed: decision.allowed, explained }
          },
        },
      )
    },
    candidates: (query) => {
      known(query, ['limit'])
      const { policies } = context.limiters.current
      return candidates(fleet, policies, numberIn(query, 'limit', 10, 50))
    },
    store: (query) => {
      known(query, [])
      return storeHealth(options)
    },
    doctor: async (query) => {
      known(query, [])
      const { server } = options.opened
      const [{ parts: seen, complete }, answers = true] = await Promise.all([
        fleet.rules(),
        server?.lookSoon(),
      ])
      const { policies } = context.limiters.current
      return {
        findings: [
          ...storeFindings(storeHealth(options), answers),
          ...proxyFindings(options.trustedProxies, seen),
          ...ruleFindings(policies, seen, complete, systemClock()),
        ],
      }
    },
    blocks: (query) => {
      const { items, cursor } = pageOf(controls.live.listBlocks(), query)
      return { blocks: items.map(blockShown), cursor }
    },
    overrides: (query) => {
      const { items, cursor } = pageOf(controls.live.listOverrides(), query)
      return { overrides: items.map((one) => overrideShown(one, controls.idle)), cursor }
    },
    offenders: (query) => {
      known(query, ['limit'])
      return offenders(fleet, fleet.since, numberIn(query, 'limit', 20, 100))
    },
    state: (query) => {
      known(query, [])
      return stateOf(context.limiters.current, options)
    },
  }
}

function rulesInForce(
  { policies }: Limiters,
  domains: readonly CountedDomain[],
): readonly RuleInForce[] {
  const own = policies.map(({ name, rules }) => ({ name, rules: rules.map((rule) => rule.name) }))
  const counted = domains.map(({ name, places }) => ({
    name,
    rules: places.flatMap(({ rules }) => rules),
  }))
  return [...own, ...counted].flatMap(({ name: policy, rules }) =>
    rules.map((rule) => ({ policy, rule })),
  )
}

function stateOf(
  { generation, policies }: Limiters,
  { context, controls, storeMetrics, opened }: ViewOptions,
): object {
  const { memory, redis } = opened
  const overrides = controls.live.listOverrides()
  return {
    version,
    status: context.health.state,
    generation,
    store:
      memory !== undefined
        ? { kind: 'memory', ...memory.stats() }
        : {
            kind: redis === undefined ? 'owner' : 'redis',
            connection: redis?.client.status ?? null,
          },
    degraded: storeMetrics.isDegraded,
    policies: policies.map(({ name, rules }) => ({
      name,
      rules: rules.map((rule) => rule.name),
      breaker: storeMetrics.breakers.get(name) ?? null,
      overrides: overrides.filter(({ policy }) => policy === name).length,
    })),
    blocks: controls.live.listBlocks().length,
    overrides: overrides.length,
  }
}

/** Some of a list; the cursor is where to go on. */
function pageOf<T>(
  all: readonly T[],
  query: URLSearchParams,
): { readonly items: readonly T[]; readonly cursor: string | null } {
  known(query, ['limit', 'cursor'])
  const limit = numberIn(query, 'limit', 100, 1000)
  const start = query.has('cursor') ? numberIn(query, 'cursor', 0, 1_000_000) : 0
  const end = start + limit
  return { items: all.slice(start, end), cursor: end < all.length ? String(end) : null }
}

function known(query: URLSearchParams, names: readonly string[]): void {
  for (const name of query.keys()) {
    if (names.includes(name)) continue
    const accepted = names.length === 0 ? 'none' : names.join(', ')
    throw wrong(name.slice(0, 60), `not a known parameter; accepted: ${accepted}`)
  }
}

/** The attributes of a question, each as `attribute=name=value`. */
function attributesIn(query: URLSearchParams): Readonly<Record<string, string>> {
  const pairs = query.getAll('attribute').map((pair) => {
    const equals = pair.indexOf('=')
    if (equals < 1 || equals === pair.length - 1)
      throw wrong('attribute', `not accepted; accepted: a name and a value, such as user=42`)
    return [pair.slice(0, equals), pair.slice(equals + 1)] as const
  })
  if (pairs.length === 0 && !query.has('id'))
    throw wrong('id', 'missing; accepted: a decision id, or attribute=user=42')
  if (pairs.length > 0 && query.has('id'))
    throw wrong('id', 'given beside attribute; accepted: one of the two')
  return Object.fromEntries(pairs)
}

function numberIn(query: URLSearchParams, name: string, normal: number, most: number): number {
  const text = query.get(name)
  if (text === null) return normal
  if (/^\d{1,7}$/.test(text) && Number(text) <= most && (Number(text) > 0 || name === 'cursor'))
    return Number(text)
  throw wrong(name, `not accepted; accepted: a whole number up to ${most}`)
}

function flagIn(query: URLSearchParams, name: string): boolean {
  const text = query.get(name)
  if (text === null || text === 'false') return false
  if (text === 'true' || text === '') return true
  throw wrong(name, 'not accepted; accepted: true or false')
}

function wrong(name: string, is: string): RequestError {
  return new RequestError(400, 'invalid-query', `${name} is ${is}`, name)
}
