// What a request counts by: a key for a bare limit, attributes for a policy.
import { SluiceError } from '../errors.ts'
import type { LimiterPolicy, LiveCondition } from '../limiter/policy-of-limiter.ts'
import { attributeText } from '../key/key.ts'
import type { Attributes, PolicyInCode } from '../policy/policy.ts'
import { mapAnswer, isPromise, type MaybePromise } from '../stores/store.ts'
import { attributeNames, hasLimitFunction } from './attribute-names.ts'
import { requestAddresses } from './request-address.ts'
import type { Address } from './client-address.ts'
import type { FrameworkAdapter } from './framework-adapter.ts'
import { apiKeyHash, identityReader } from './identity.ts'
import { memoizeRecent } from './memoize-recent.ts'
import type { HttpOptions, Identify } from './options.ts'
import { isAmbiguous } from './path-readings.ts'
import { requestRoutes } from './request-route.ts'
import { methodName } from './routes.ts'
import { isBareLimit } from './unused-options.ts'
import type { Warn } from './warnings.ts'

/** Attributes or a key; null if the request passes uncounted, undefined if it must be refused. */
export type CountedBy = Attributes | Readings | string | null | undefined

/** The attributes of a request as each route that some server would take its path for, its own last. */
export class Readings {
  readonly all: readonly Attributes[]

  constructor(all: readonly Attributes[]) {
    this.all = all
  }
}

const SHARED: Address = { ip: 'unknown', network: 'unknown' }
/** Attributes with an option of their own. */
export const IDENTITIES = ['user', 'apiKey', 'tenant', 'plan'] as const

/** Creates the function that reads what a request counts by. */
export function attributesReader<Q, S>(
  adapter: FrameworkAdapter<Q, S>,
  options: HttpOptions<Q, S>,
  limiterPolicy: LimiterPolicy | undefined,
  warn: Warn,
  onConditions: (conditions: readonly LiveCondition[]) => void,
): (request: Q) => MaybePromise<CountedBy> {
  const make = readerMaker(adapter, options, limiterPolicy?.policy, warn)
  const read = followControls(limiterPolicy ?? {}, make, onConditions)
  if (options.ambiguousPaths !== 'refuse') return read
  return (request) => {
    if (isAmbiguous(adapter.path(request)))
      throw new SluiceError('invalid-attributes', 'a request has an ambiguous path; it is refused')
    return read(request)
  }
}

const NONE: ReadonlySet<string> = new Set()

/**
 * Makes a reader, and a new one whenever blocks or overrides that are set while the limiter runs name other attributes.
 * `make` receives the names that they read, null for any; `onConditions` receives the new conditions.
 */
function followControls<Q, T>(
  { controlled, blockedBy }: Partial<LimiterPolicy>,
  make: (names: ReadonlySet<string> | null) => (request: Q) => T,
  onConditions: (conditions: readonly LiveCondition[]) => void,
): (request: Q) => T {
  if (controlled === undefined && blockedBy === undefined) return make(NONE)
  let conditions = controlled?.conditions
  let blockedNames = blockedBy?.()
  let reader = make(namesOf(conditions, blockedNames))
  if (conditions !== undefined && conditions.length > 0) onConditions(conditions)
  return (request) => {
    const newConditions = controlled?.conditions
    const newNames = blockedBy?.()
    if (newConditions !== conditions || newNames !== blockedNames) {
      const before = conditions ?? []
      conditions = newConditions
      blockedNames = newNames
      reader = make(namesOf(newConditions, newNames))
      onConditions(
        (newConditions ?? []).filter(({ when }) => !before.some((one) => one.when === when)),
      )
    }
    return reader(request)
  }
}

function namesOf(
  conditions: readonly LiveCondition[] = [],
  read: ReadonlySet<string> | null = NONE,
): ReadonlySet<string> | null {
  if (read === null) return null
  return new Set([...read, ...conditions.flatMap(({ when }) => Object.keys(when))])
}

/** Makes readers of the attributes that rules use, and of others that blocks and overrides use: null for any. */
function readerMaker<Q, S>(
  adapter: FrameworkAdapter<Q, S>,
  options: HttpOptions<Q, S>,
  policy: PolicyInCode | undefined,
  warn: Warn,
): (extra: ReadonlySet<string> | null) => (request: Q) => MaybePromise<CountedBy> {
  const isBare = policy !== undefined && isBareLimit(policy)
  const { unknownAddress = isBare ? 'share' : 'skip' } = options
  const ruled = policy === undefined || hasLimitFunction(policy) ? null : attributeNames(policy)
  const isRuled = (name: string): boolean => ruled === null || ruled.has(name)
  const addressOf = requestAddresses(adapter, options, warn)
  const hashOf = memoizeRecent(apiKeyHash)
  const keys = keyReaders(adapter, options, hashOf)

  const withoutAddress = (): Address | null | undefined => {
    // Sharing is reported unless the option sets it.
    if (options.unknownAddress !== 'share')
      warn(
        'address-unknown',
        () => `a request has no address, ${UNKNOWN_ADDRESS_EFFECTS[unknownAddress]}`,
      )
    return unknownAddress === 'share' ? SHARED : unknownAddress === 'refuse' ? undefined : null
  }
  const addressKeyOf = (request: Q): string | null | undefined => {
    const { ip } = addressOf(request)
    if (ip !== undefined || !isRuled('key')) return ip
    const instead = withoutAddress()
    return instead === null ? null : instead?.ip
  }
  // What names the caller first; without any of them, the address.
  const keyOf = keys.reduceRight<(request: Q) => MaybePromise<string | null | undefined>>(
    (otherwise, read) => (request) => mapAnswer(read(request), (key) => key ?? otherwise(request)),
    addressKeyOf,
  )
  const routesOf = requestRoutes(adapter, options, ruled !== null && ruled.has('route'), warn)
  const custom = customAttributes(adapter, options.attributes)
  const needsAddress = isRuled('ip') || isRuled('network')

  return (extra) => {
    // A function that chooses the limit may read any attribute.
    const isKeyEnough =
      ruled !== null && extra !== null && [...extra].every((name) => name === 'key')
    if (isBare && isKeyEnough) return keyOf
    const wants = (name: string): boolean => isRuled(name) || extra === null || extra.has(name)
    const readers = IDENTITIES.filter((name) => options[name] !== undefined && wants(name)).map(
      (name) => [name, identityReader(adapter, options[name] as Identify<Q>)] as const,
    )
    const [wantsAddress, wantsKey] = [wants('ip') || wants('network'), wants('key') && !isBare]
    const [wantsMethod, wantsRoute] = [wants('method'), wants('route')]
    const read = (request: Q): MaybePromise<Attributes | Readings> | undefined => {
      let address: Address | null | undefined
      if (wantsAddress) {
        address = addressOf(request)
        if (address.ip === undefined && needsAddress) {
          address = withoutAddress()
          if (address === undefined) return undefined
        }
      }
      const attributes: Record<string, unknown> = {
        ip: address?.ip,
        network: address?.network,
        method: wantsMethod ? methodName(adapter.method(request)) : undefined,
        route: undefined,
      }
      for (const [name, read] of readers) {
        const value = read(request)
        attributes[name] =
          name === 'apiKey' && typeof value === 'string' && value !== '' ? hashOf(value) : value
      }
      if (wantsKey) attributes['key'] = keyOf(request)
      const routes = wantsRoute ? routesOf(request) : undefined
      attributes['route'] = typeof routes === 'object' ? routes[0] : routes
      const more = custom?.(request)
      const all = isPromise(more)
        ? more.then(complete.bind(undefined, attributes, hashOf))
        : complete(attributes, hashOf, more)
      return typeof routes === 'object' ? mapAnswer(all, readingsBy.bind(undefined, routes)) : all
    }
    return isBare ? (request) => withKey(keyOf(request), () => read(request)) : read
  }
}

/** The attributes with each of these routes; the first is their own. */
function readingsBy([, ...others]: readonly string[], attributes: Attributes): Readings {
  return new Readings([...others.map((route) => ({ ...attributes, route })), attributes])
}

/** The attributes with the key of a bare limit, which decides alone whether a request counts. */
function withKey(
  key: MaybePromise<string | null | undefined>,
  read: () => MaybePromise<Attributes | Readings> | undefined,
): MaybePromise<CountedBy> {
  if (isPromise(key)) return key.then((key) => withKey(key, read))
  if (key === null || key === undefined) return key
  return mapAnswer(read(), (found) =>
    found instanceof Readings
      ? new Readings(found.all.map((attributes) => ({ ...attributes, key })))
      : { ...found, key },
  )
}

const UNKNOWN_ADDRESS_EFFECTS = {
  share: 'so all requests without one count as one client; set address, key or unknownAddress',
  refuse: 'so it is refused; set address, or unknownAddress',
  skip: 'so rules by address are skipped for it; set address, or unknownAddress',
} as const

/** The attributes with those of the application, once every promise among them is resolved. */
function complete(
  attributes: Record<string, unknown>,
  hashOf: (secret: string) => string,
  more: Attributes | undefined,
): MaybePromise<Attributes> {
  if (more !== undefined) Object.assign(attributes, more)
  let waits = false
  for (const name in attributes) if (isPromise(attributes[name])) waits = true
  if (!waits) return attributes as Attributes
  const names = Object.keys(attributes)
  return Promise.all(Object.values(attributes)).then((values) => {
    const resolved: Record<string, unknown> = {}
    for (const [i, name] of names.entries()) {
      const isSecret =
        name === 'apiKey' &&
        isPromise(attributes[name]) &&
        typeof values[i] === 'string' &&
        values[i] !== ''
      resolved[name] = isSecret ? hashOf(values[i] as string) : values[i]
    }
    return resolved as Attributes
  })
}

/** The function that reads the application's own attributes; a table of functions becomes one function. */
function customAttributes<Q, S>(
  adapter: FrameworkAdapter<Q, S>,
  option: HttpOptions<Q, S>['attributes'],
): ((request: Q) => MaybePromise<Attributes>) | undefined {
  if (option === undefined || typeof option === 'function') return option
  const readers = Object.entries(option).map(
    ([name, identify]) => [name, identityReader(adapter, identify)] as const,
  )
  return (request) => {
    const attributes: Record<string, unknown> = {}
    for (const [name, read] of readers) attributes[name] = read(request)
    return attributes as Attributes
  }
}

type KeyReader<Q> = (request: Q) => MaybePromise<string | undefined>

/** What a key is read from before the address; prefixes keep users, API keys and addresses apart. */
function keyReaders<Q, S>(
  adapter: FrameworkAdapter<Q, S>,
  { key, user, apiKey }: Pick<HttpOptions<Q>, 'key' | 'user' | 'apiKey'>,
  hashOf: (secret: string) => string,
): readonly KeyReader<Q>[] {
  const reader = (identify: Identify<Q>, keyFor: (value: string) => string): KeyReader<Q> => {
    const read = identityReader(adapter, identify)
    const keyOf = (value: unknown): string | undefined => {
      const id = attributeText({ id: value } as Attributes, 'id')
      return id === undefined ? undefined : keyFor(id)
    }
    return (request) => mapAnswer(read(request), keyOf)
  }
  if (key !== undefined) return [reader(key, (value) => value)]
  return [
    ...(user === undefined ? [] : [reader(user, (value) => `user:${value}`)]),
    ...(apiKey === undefined ? [] : [reader(apiKey, (value) => `api-key:${hashOf(value)}`)]),
  ]
}
