// Decides by a whole policy as the service would: the same guard finds the address, the route and the attributes.
import {
  createLimiter,
  limit,
  type Limit,
  type Millis,
  type Policy,
  type SyncLimiter,
} from 'sluice'
import {
  clientAddress,
  createRequestGuard,
  decisionOf,
  type FrameworkAdapter,
  type RequestGuard,
} from 'sluice/http'
import type { Config } from '@sluice/server'
import type { LogParser } from '../logs/parser.ts'
import { storeAt, type Decider, type LogTime } from './decider.ts'

/** One recorded request, as a guard reads it. */
export interface LogRequest {
  readonly peer: string | undefined
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly attributes: Readonly<Record<string, string | undefined>>
}

/** The parts of a configuration that decide whom a request counts as. */
export type ServedConfig = Pick<Config, 'proxy' | 'trustedProxies'>

/** Attributes that the guard finds by itself. */
const FOUND: ReadonlySet<string> = new Set(['ip', 'network', 'method', 'route', 'apiKey'])

/** The names of all attributes that some rule of the policy reads. */
function attributesOf({ rules }: Policy): ReadonlySet<string> {
  return new Set(
    rules.flatMap(({ by, when = {}, tiers, overrides = [], cost }) => [
      ...by,
      ...[when, ...overrides.map((override) => override.when)].flatMap(Object.keys),
      ...(tiers === undefined ? [] : [tiers.attribute]),
      ...(typeof cost === 'string' ? [cost] : []),
    ]),
  )
}

/** Reads from a line what the guards of these policies ask for. */
export function requestReader(
  served: readonly { readonly policy: Policy; readonly config: ServedConfig }[],
  mapped: readonly string[],
): (parser: LogParser) => LogRequest {
  const wanted = new Set(served.flatMap(({ policy }) => [...attributesOf(policy)]))
  const names = [...wanted].filter((name) => mapped.includes(name) || !FOUND.has(name))
  const headers = new Set(
    served.flatMap(({ config }) => [
      ...Object.values(config.proxy.attributes).map((header) => header.toLowerCase()),
      ...(config.trustedProxies.length > 0 ? ['x-forwarded-for'] : []),
    ]),
  )
  const address = clientAddress()
  return (parser) => {
    const peer = parser.value('ip')
    const attributes: Record<string, string | undefined> = {}
    for (const name of names) {
      const value = parser.value(name)
      if (value !== undefined) attributes[name] = value
    }
    // Some servers log the name of a host instead of its address; it tells clients apart as well.
    if (peer !== undefined && wanted.has('ip') && address.of(peer).ip === undefined)
      attributes['ip'] = peer
    return {
      peer,
      method: parser.value('method') ?? 'GET',
      path: parser.value('path') ?? '/',
      headers: Object.fromEntries([...headers].map((name) => [name, headerOf(parser, name)])),
      attributes,
    }
  }
}

/** A request header, under the names that servers give it in their logs. */
function headerOf(parser: LogParser, name: string): string | undefined {
  const withUnderscores = name.replaceAll('-', '_')
  const title = name.replaceAll(/(^|-)[a-z]/g, (part) => part.toUpperCase())
  return (
    parser.field(`http_${withUnderscores}`) ??
    parser.field(withUnderscores) ??
    parser.field(name) ??
    parser.field(`request.headers.${title}.0`)
  )
}

const ADAPTER: FrameworkAdapter<LogRequest, null> = {
  peerAddress: ({ peer }) => peer,
  header: ({ headers }, name) => headers[name],
  method: ({ method }) => method,
  path: ({ path }) => path,
  route: () => undefined,
  get: () => undefined,
  set: () => {},
}

/** Decides by a policy. */
export class ServedDecider implements Decider<LogRequest> {
  readonly name: string
  readonly limit: Limit | null = null
  readonly windows: readonly Millis[]
  readonly refusedBy = new Map<string, number>()
  private readonly limiter: SyncLimiter
  private readonly store: ReturnType<typeof storeAt>
  private readonly guard: RequestGuard<LogRequest, null>

  constructor(
    name: string,
    policy: Policy,
    { proxy, trustedProxies }: ServedConfig,
    time: LogTime,
  ) {
    this.name = name
    this.windows = [...new Set(policy.rules.map((rule) => limit(rule.limit).window))]
    this.store = storeAt(time)
    this.limiter = createLimiter({ policy, store: this.store })
    const { apiKey, ...fields } = proxy.attributes
    const others = Object.entries(fields)
    this.guard = createRequestGuard<LogRequest, null>(ADAPTER, this.limiter, {
      address: trustedProxies.length > 0 ? { trustedProxies } : {},
      routes: proxy.routes,
      headers: false,
      ...(apiKey === undefined ? {} : { apiKey: ({ headers }) => headers[apiKey.toLowerCase()] }),
      attributes: ({ headers, attributes }) => ({
        ...Object.fromEntries(
          others.map(([name, header]) => [name, headers[header.toLowerCase()]]),
        ),
        ...attributes,
      }),
      onWarning: () => {},
    })
  }

  allows(_: string, request: LogRequest | undefined): boolean {
    // A guard counts a request once; each candidate asks its own about a request of its own.
    const own = { ...(request as LogRequest) }
    const admission = this.guard.enter(own, null)
    if (admission instanceof Promise) throw new Error('a guard in memory answers at once')
    const decision = decisionOf(own)
    if (decision?.allowed ?? admission.refusal === null) return true
    const rule = decision?.rule ?? 'no rule'
    this.refusedBy.set(rule, (this.refusedBy.get(rule) ?? 0) + 1)
    return false
  }

  close(): void {
    this.limiter.close()
    this.store.close()
  }
}
