// The most common problems, found from what the service already knows: the store, proxies, and rules that never apply.
import type { Millis, Policy } from 'sluice'
import type { RulePart } from '../../observe/rule-watch.ts'

/** One thing that was looked at. */
export interface Finding {
  readonly name: string
  readonly level: 'ok' | 'warning' | 'error'
  readonly message: string
}

export interface StoreHealth {
  readonly kind: 'memory' | 'redis'
  readonly degraded: boolean
  readonly connection: string | null
  readonly breakers: Readonly<Record<string, string>>
  readonly latency: { readonly count: number; readonly p50: number; readonly p99: number }
  readonly memory: { readonly keys: number; readonly evicted: number } | null
  readonly server: {
    readonly usedMemory: number
    readonly maxMemory: number
    readonly evictedKeys: number
    readonly evictionPolicy: string
    readonly version: string
    readonly clockOffset: number
    readonly scripts: boolean
  } | null
}

/** Clocks further apart than this make waits and blocks end at other times than shown, in milliseconds. */
const MAX_OFFSET = 1000
/** Most decisions should take less, in milliseconds. */
const SLOW = 25

/** What the store says, as findings; `answers` is whether a remote one has just said how it is. */
export function storeFindings(store: StoreHealth, answers: boolean): readonly Finding[] {
  const { kind, latency, memory, server } = store
  const finding = (name: string, isGood: boolean, good: string, bad: string): Finding => ({
    name,
    level: isGood ? 'ok' : 'warning',
    message: isGood ? good : bad,
  })
  const found: Finding[] = [reachability(store, answers)]
  if (memory !== null)
    found.push(
      finding(
        'evictions',
        memory.evicted === 0,
        `${memory.keys} keys, none evicted`,
        `${memory.evicted} keys were forgotten before their time; raise store.maxKeys`,
      ),
    )
  if (kind === 'memory') return found
  if (latency.count > 0)
    found.push(
      finding(
        'latency',
        latency.p99 <= SLOW,
        `p50 ≤ ${latency.p50} ms, p99 ≤ ${latency.p99} ms`,
        `p99 is up to ${latency.p99} ms (p50 ${latency.p50} ms); is Redis in the same zone?`,
      ),
    )
  // What it said earlier is not how it is now.
  if (store.degraded && !answers) return found
  if (server === null || !answers)
    return [
      ...found,
      {
        name: 'server',
        level: 'warning',
        message: 'Redis did not say how it is; does its user have +info, +time and +eval?',
      },
    ]
  const { evictionPolicy, evictedKeys, usedMemory, maxMemory, clockOffset, version, scripts } =
    server
  const full = maxMemory > 0 ? usedMemory / maxMemory : 0
  return [
    ...found,
    scripts
      ? { name: 'scripts', level: 'ok', message: `Redis ${version} runs scripts` }
      : {
          name: 'scripts',
          level: 'error',
          message: `Redis ${version} runs no script for this user, and every decision needs one; give it +eval and +evalsha`,
        },
    finding(
      'eviction policy',
      evictionPolicy === 'noeviction',
      evictionPolicy,
      `${evictionPolicy}: a full Redis drops counts, and what was taken is free again; use noeviction`,
    ),
    finding(
      'evictions',
      evictedKeys === 0,
      'none',
      `${evictedKeys} keys were evicted since Redis started; give it more memory`,
    ),
    finding(
      'memory',
      full < 0.8,
      maxMemory > 0 ? `${Math.round(100 * full)} % used` : 'no limit is set',
      `${Math.round(100 * full)} % of maxmemory is used`,
    ),
    finding(
      'clock',
      Math.abs(clockOffset) <= MAX_OFFSET,
      `${clockOffset} ms apart`,
      `the clocks of Redis and this host are ${clockOffset} ms apart; run NTP on both`,
    ),
  ]
}

/** Whether the store decides now. */
function reachability({ kind, degraded, connection }: StoreHealth, answers: boolean): Finding {
  const name = 'store'
  if (!degraded) return { name, level: 'ok', message: `${kind} is reachable` }
  const message = answers
    ? `${kind} answers, but the last decisions were made without it; the next requests try it again`
    : `${kind} does not answer (connection ${connection ?? 'none'}); decisions are made without it`
  return { name, level: 'error', message }
}

/** Rules without a request for this long are reported. */
const SILENT: Millis = 3_600_000

/** When each rule last applied, in one process. */
type SeenRule = Pick<RulePart, 'policy' | 'rule' | 'by' | 'last' | 'busiest'>

/** Rules that no request met in the last hour, as a finding. */
export function ruleFindings(
  policies: readonly Policy[],
  parts: readonly SeenRule[],
  complete: boolean,
  now: Millis,
): readonly Finding[] {
  const seen = new Set(
    parts
      .filter(({ last }) => now - last < SILENT)
      .map(({ policy, rule }) => JSON.stringify([policy, rule])),
  )
  const silent = policies.flatMap(({ name, rules: all }) =>
    all
      .filter((rule) => !seen.has(JSON.stringify([name, rule.name])))
      .map((rule) => `${name}/${rule.name}`),
  )
  const found: Finding[] =
    silent.length === 0
      ? [{ name: 'rules', level: 'ok', message: 'every rule has applied in the last hour' }]
      : [
          {
            name: 'rules',
            level: 'warning',
            message: `no request of the last hour met ${silent.slice(0, 10).join(', ')}; see sluice_rule_skipped_total for missing attributes`,
          },
        ]
  if (!complete)
    found.push({ name: 'fleet', level: 'warning', message: 'only one process could be read' })
  return found
}

/** Whether addresses are those of clients or of a proxy that is not trusted. */
export function proxyFindings(
  trustedProxies: readonly string[],
  parts: readonly SeenRule[],
): readonly Finding[] {
  const name = 'proxies'
  const addresses = new Set(
    parts
      .filter(({ by }) => by.includes('ip'))
      .flatMap(({ busiest }) => busiest.entries.map(({ about }) => about['ip'] ?? '')),
  )
  if (trustedProxies.length > 0)
    return [{ name, level: 'ok', message: `trusted: ${trustedProxies.join(', ')}` }]
  if (addresses.size === 0 || ![...addresses].every(isPrivate))
    return [{ name, level: 'ok', message: 'none is trusted; addresses are those of connections' }]
  const some = [...addresses].slice(0, 3).join(', ')
  const message = `every address that is counted is private (${some}); if that is a proxy, name its network in trustedProxies, or its clients share one count`
  return [{ name, level: 'warning', message }]
}

/** Addresses of private networks, of this host, and of links. */
function isPrivate(address: string): boolean {
  return /^(?:10\.|127\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|::1(?:\/|$)|f[cd][\da-f]{2}:|fe80:)/i.test(
    address,
  )
}
