// Reads the pools of a rule: what a request draws from when the rule's own limit has no room for it.
import type { Pool } from './policy.ts'
import { POOL_FIELDS } from './fields.ts'
import { show } from '../errors.ts'
import { readPolicyLimit } from './read-limit.ts'
import { readName } from './read-name.ts'
import { at, addProblem, readFields, readList, addWrongValue, type Problems } from './reading.ts'

/** The most pools of one rule: each is a count that a request may read. */
export const MAX_POOLS = 8

/** The pools in their order; undefined, with every mistake noted, when they are none. */
export function readPools(
  problems: Problems,
  path: string,
  value: unknown,
): readonly Pool[] | undefined {
  const accepted = `a list of 1 to ${MAX_POOLS} pools, each with name and limit`
  const list = readList(problems, path, value, accepted)
  if (list === undefined) return undefined
  if (list.length === 0 || list.length > MAX_POOLS) {
    addWrongValue(problems, path, value, accepted)
    return undefined
  }
  const names = new Map<string, string>()
  const pools = list.flatMap((entry, i) => readPool(problems, at(path, i), entry, names) ?? [])
  return Object.freeze(pools)
}

function readPool(
  problems: Problems,
  path: string,
  value: unknown,
  names: Map<string, string>,
): Pool | undefined {
  const fields = readFields(problems, path, value, POOL_FIELDS, 'a pool with name and limit')
  if (fields === undefined) return undefined
  const name = readName(problems, at(path, 'name'), fields.get('name'))
  const earlier = name === undefined ? undefined : names.get(name)
  if (earlier !== undefined)
    addProblem(
      problems,
      at(path, 'name'),
      name,
      `is ${show(name)}, the name of ${earlier}; accepted: a name of its own`,
    )
  else if (name !== undefined) names.set(name, path)
  const limit = readPolicyLimit(problems, at(path, 'limit'), fields.get('limit'))
  return name === undefined || limit === undefined ? undefined : Object.freeze({ name, limit })
}
