// A limit at the end of a path of descriptors, made ready for requests.
import { limit, type AlgorithmName, type Limit } from 'sluice'
import { currentLimit, type CurrentLimit } from '../wire/response.ts'
import { lengthPrefixed } from './count-key.ts'
import { unitNamed, type Unit } from './unit.ts'

/** The number of the format of spaces: it changes when counts of an older one could be misread. */
const FORMAT = 'envoy 1'

/** A limit with the space of its counts and the form in which callers see it. */
export interface PlacedLimit {
  readonly limit: Limit
  readonly space: string
  readonly shown: CurrentLimit
}

/** What a descriptor's path leads to. */
export interface DescriptorRule {
  /** The path as people write it, such as `message_type=marketing, to_number`. For logs and metrics. */
  readonly path: string
  /** The keys of the path, in order. */
  readonly keys: readonly string[]
  /** The rule as its decisions are counted. */
  readonly counted: { readonly name: string }
  /** The name that `replaces` of others refers to, '' for none. */
  readonly name: string
  readonly replaces: readonly string[]
  readonly shadow: boolean
  readonly quotaMode: boolean
  /** null: unlimited. */
  readonly placed: PlacedLimit | null
  /** The same counts under a limit that the caller sets; counts of another unit are others. */
  readonly override: (requestsPerUnit: number, unit: Unit) => PlacedLimit
}

/** What makes the limits of a domain. */
export interface Placing {
  readonly domain: string
  readonly algorithm: AlgorithmName
}

/**
 * A limit of so many requests in a unit. A fixed window is exact for any number, also for those whose product with
 * a year is beyond what the other algorithms can count with.
 */
export function limitOf(quota: number, unit: Unit, algorithm: AlgorithmName): Limit {
  if (algorithm === 'fixed-window') return { algorithm, quota, window: unit.window, burst: quota }
  return limit({ algorithm, quota, window: unit.window })
}

/** Where the counts of one list of keys live: the quota is not part of it, so that a new one forgets nothing. */
export function placer(
  { domain, algorithm }: Placing,
  keys: readonly string[],
  name: string,
): (quota: number, unit: Unit) => PlacedLimit {
  const spaces = new Map<Unit, string>()
  return (quota, unit) => {
    let space = spaces.get(unit)
    if (space === undefined) {
      space = lengthPrefixed([FORMAT, domain, algorithm, unit.name, ...keys])
      spaces.set(unit, space)
    }
    const shown = currentLimit(name, quota, unit.number)
    return { limit: limitOf(quota, unit, algorithm), space, shown }
  }
}

/** The unit of a configuration that has been checked. */
export function knownUnit(name: string | undefined): Unit {
  const unit = unitNamed(name ?? '')
  if (unit === undefined) throw new RangeError(`there is no unit ${String(name)}`)
  return unit
}
