// The seam between protocols and policies: every listener maps its requests to one of these limiters, by policy name.
import type { Limiter, Policy, SyncLimiter } from 'sluice'
import type { Budget, SyncBudget } from 'sluice/budgets'
import type { Health } from '../health/health.ts'
import type { Log } from '../log/log.ts'
import type { MetricRegistry } from '../metrics/registry.ts'
import { RequestError } from '../net/problem.ts'
import type { Certificates } from '../tls/certificates.ts'

/** Decides requests: at once on the memory store, by promises on a remote one. */
export type ServiceLimiter = (Limiter | SyncLimiter) & {
  /** Reserves and enters by the same policy, if one of its rules has holds. */
  readonly budget?: ServiceBudget
  /** Whether a rule of the policy has `concurrency`. */
  readonly hasSlots?: boolean
}

/** Holds units: at once on the memory store, by promises on a remote one. */
export type ServiceBudget = Budget | SyncBudget

/**
 * The limiters of one state of the policy file. It never changes: a reload makes another one. A request reads it
 * once and finishes with what it began with.
 */
export interface Limiters {
  /** Counts the states: 1 at start, one more with each reload that took effect. */
  readonly generation: number
  /** The policies as they were parsed, in the file's order. */
  readonly policies: readonly Policy[]
  /** The limiters by the names of their policies, in the file's order. A map, since names come from requests. */
  readonly byName: ReadonlyMap<string, ServiceLimiter>
  /** The only policy's name when there is exactly one, else undefined. */
  readonly only: string | undefined
}

/** What listeners hold: where the limiters of this moment are found. */
export interface LimiterSource {
  /** The limiters in force now. */
  readonly current: Limiters
}

/** The parts of the service that listeners share. */
export interface ServiceContext {
  /** Read `limiters.current` once per request. The limiters themselves count decisions in the metrics. */
  readonly limiters: LimiterSource
  readonly health: Health
  /** For the protocol's own metrics. */
  readonly metrics: MetricRegistry
  /** Keys and certificates of listeners with TLS. */
  readonly certificates: Certificates
  readonly log: Log
}

/** The limiter of a policy, which need not be named when there is only one. */
export function limiterFor(limiters: Limiters, policy: string | undefined): ServiceLimiter {
  const name = policy ?? limiters.only
  if (name === undefined) {
    const detail = `policy is missing; accepted: ${someOf(limiters)}`
    throw new RequestError(400, 'invalid-body', detail, 'policy')
  }
  const limiter = limiters.byName.get(name)
  if (limiter === undefined) {
    const detail = `there is no policy of that name; accepted: ${someOf(limiters)}`
    throw new RequestError(404, 'unknown-policy', detail, 'policy')
  }
  return limiter
}

/** A few names are a help, thousands are not. */
function someOf({ byName }: Limiters): string {
  const names = [...byName.keys()]
  return names.length <= 10 ? names.join(', ') : `${names.slice(0, 10).join(', ')}, …`
}
