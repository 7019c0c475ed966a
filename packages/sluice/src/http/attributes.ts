// Whom a request counts as: a key for a bare limit, attributes for a policy.
import { show } from '../errors.ts'
import { sha256 } from '../key/sha256.ts'
import { attributeText } from '../policy/pattern.ts'
import type { Attributes, Policy } from '../policy/policy.ts'
import { isPromise, type MaybePromise } from '../stores/store.ts'
import { addressReader, type Address, type ClientAddress } from './client-address.ts'
import { wrong, type HttpOptions, type Identify } from './options.ts'
import type { FrameworkAdapter } from './framework-adapter.ts'
import { memoizeRecent } from './memoize-recent.ts'
import { methodName, routeMatcher, UNMATCHED } from './routes.ts'
import type { Warn } from './warnings.ts'
import { attributeNames } from './attribute-names.ts'

/** Attributes or a key; null when there is nobody to count by and the request goes on, undefined when it must not. */
export type Subject = Attributes | string | null | undefined

/** The hash that stands for an API key in attributes and keys: the key itself is in no store and no log. */
export function apiKeyHash(apiKey: string): string {
  return sha256(apiKey)
}

const SHARED: Address = { ip: 'unknown', network: 'unknown' }
const IDENTITIES = ['user', 'apiKey', 'tenant', 'plan'] as const
/** Requests after which nobody looks for proxies any more. */
const LOOKS = 1000

/** Makes the function that says whom a request counts as. */
export function attributesReader<Q, S>(
  adapter: FrameworkAdapter<Q, S>,
  options: HttpOptions<Q, S>,
  policy: Policy | undefined,
  warn: Warn,
): (request: Q) => MaybePromise<Subject> {
  const { unknownAddress = 'skip' } = options
  const wanted = policy === undefined ? null : attributeNames(policy)
  const wants = (name: string): boolean => wanted === null || wanted.has(name)
  const addressOf = addresses(adapter, options, warn)
  const routeOf = routes(adapter, options, wanted !== null && wanted.has('route'), warn)
  const hashed = memoizeRecent(apiKeyHash)
  const keys = keyReaders(options, hashed)

  const unknown = (): null | undefined => {
    warn(
      'address-unknown',
      () =>
        `a request has no address (a Unix socket, a runtime that does not tell it, or a text that is none); ${unknownAddress === 'refuse' ? 'it is refused' : 'rules by address do not speak for it'}: see unknownAddress`,
    )
    return unknownAddress === 'refuse' ? undefined : null
  }
  const keyOf = (request: Q, i: number): MaybePromise<Subject> => {
    const reader = keys[i]
    if (reader === undefined)
      return addressOf(request).ip ?? (unknownAddress === 'share' ? SHARED.ip : unknown())
    const value = reader(request)
    if (isPromise(value)) return value.then((value) => value ?? keyOf(request, i + 1))
    return value ?? keyOf(request, i + 1)
  }
  if (policy !== undefined && isBare(policy)) return (request) => keyOf(request, 0)

  const readers = IDENTITIES.filter((name) => options[name] !== undefined && wants(name))
  const [wantsAddress, wantsKey] = [wants('ip') || wants('network'), wants('key')]
  const [wantsMethod, wantsRoute] = [wants('method'), wants('route')]
  const { attributes: further } = options

  return (request) => {
    let address: Address | undefined
    if (wantsAddress) {
      address = addressOf(request)
      if (address.ip === undefined) {
        if (unknownAddress === 'share') address = SHARED
        else if (unknown() === undefined) return undefined
      }
    }
    const attributes: Record<string, unknown> = {
      ip: address?.ip,
      network: address?.network,
      method: wantsMethod ? methodName(adapter.method(request)) : undefined,
      route: wantsRoute ? routeOf(request) : undefined,
    }
    for (const name of readers) {
      const value = (options[name] as Identify<Q>)(request)
      attributes[name] =
        name === 'apiKey' && typeof value === 'string' && value !== '' ? hashed(value) : value
    }
    if (wantsKey) attributes['key'] = keyOf(request, 0)
    const more = further?.(request)
    if (isPromise(more))
      return more.then((more) => settled(Object.assign(attributes, more), hashed))
    return settled(more === undefined ? attributes : Object.assign(attributes, more), hashed)
  }
}

/** The attributes, once every function has answered. */
function settled(
  attributes: Record<string, unknown>,
  hashed: (text: string) => string,
): MaybePromise<Attributes> {
  let waits = false
  for (const name in attributes) if (isPromise(attributes[name])) waits = true
  if (!waits) return attributes as Attributes
  const names = Object.keys(attributes)
  return Promise.all(Object.values(attributes)).then((values) => {
    const made: Record<string, unknown> = {}
    for (const [i, name] of names.entries()) {
      const isSecret =
        name === 'apiKey' &&
        isPromise(attributes[name]) &&
        typeof values[i] === 'string' &&
        values[i] !== ''
      made[name] = isSecret ? hashed(values[i] as string) : values[i]
    }
    return made as Attributes
  })
}

type KeyReader<Q> = (request: Q) => MaybePromise<string | undefined>

/** What a key is read from, before the address; the kinds cannot be taken for each other. */
function keyReaders<Q>(
  { key, user, apiKey }: Pick<HttpOptions<Q>, 'key' | 'user' | 'apiKey'>,
  hashed: (text: string) => string,
): readonly KeyReader<Q>[] {
  const reader = (read: Identify<Q>, text: (value: string) => string): KeyReader<Q> => {
    const known = (value: unknown): string | undefined => {
      const id = attributeText({ id: value } as Attributes, 'id')
      return id === undefined ? undefined : text(id)
    }
    return (request) => {
      const value = read(request)
      return isPromise(value) ? value.then(known) : known(value)
    }
  }
  if (key !== undefined) return [reader(key, (value) => value)]
  return [
    ...(user === undefined ? [] : [reader(user, (value) => `user:${value}`)]),
    ...(apiKey === undefined ? [] : [reader(apiKey, (value) => `api-key:${hashed(value)}`)]),
  ]
}

function addresses<Q, S>(
  adapter: FrameworkAdapter<Q, S>,
  { address = {} }: HttpOptions<Q, S>,
  warn: Warn,
): (request: Q) => Address {
  const reader: ClientAddress = addressReader(typeof address === 'function' ? {} : address, warn)
  if (typeof address === 'function')
    return (request) => {
      const found: unknown = address(request) ?? undefined
      if (found === undefined) return reader.of(undefined)
      if (typeof found === 'string') {
        const named = reader.of(found)
        // Whoever can send such a text must not be nobody: the limit would not hold for them.
        return named.ip === undefined ? reader.of(adapter.peerAddress(request)) : named
      }
      throw wrong(`address gave ${show(found)}; accepted: a text, or nothing`)
    }
  const { header } = reader
  if (header !== null)
    return (request) => reader.of(adapter.peerAddress(request), adapter.header(request, header))
  let looks = LOOKS
  return (request) => {
    if (looks > 0) {
      looks -= 1
      if (
        adapter.header(request, 'x-forwarded-for') !== undefined ||
        adapter.header(request, 'forwarded') !== undefined
      ) {
        looks = 0
        warn(
          'proxy-header-ignored',
          () =>
            'a request came through a proxy, but no proxy is trusted, so all clients of the proxy count as one; name it in address.trustedProxies',
        )
      }
    }
    return reader.of(adapter.peerAddress(request))
  }
}

function routes<Q, S>(
  adapter: FrameworkAdapter<Q, S>,
  { routes }: HttpOptions<Q, S>,
  isAskedFor: boolean,
  warn: Warn,
): (request: Q) => string {
  const declared = routes === undefined ? undefined : routeMatcher(routes, adapter.routesAsSent)
  return (request) => {
    const template = adapter.route(request)
    const mount = adapter.mount?.(request) ?? ''
    if (template !== undefined && mount === '') return template
    const whole = declared?.(adapter.path(request))
    if (whole !== undefined) return whole
    if (template !== undefined) {
      const prefix = declared?.(mount)
      if (prefix !== undefined) return prefix + template
      warn(
        'mount-unknown',
        () =>
          `${template} is mounted somewhere, and the framework tells only the path as it was sent; declare the mount, such as routes: ['/users/{id}'], or all routers' ${template} count as one`,
      )
      return `*${template}`
    }
    if (isAskedFor && adapter.routesLate === true && declared === undefined)
      warn(
        'route-unknown',
        () =>
          'a rule asks for the route, which is not known yet when a request comes here; mount rateLimit on the routes, or declare them with routes',
      )
    return UNMATCHED
  }
}

/** Whether the policy is one limit for a key and nothing else, as `createLimiter({ limit })` makes it. */
function isBare({ rules }: Policy): boolean {
  const [rule] = rules
  return (
    rules.length === 1 &&
    rule!.by.length === 1 &&
    rule!.by[0] === 'key' &&
    attributeNames({ rules }).size === 1
  )
}
