// Reads the conditions of a policy: every attribute is named, every pattern means something.
import type { Condition, Pattern } from './policy.ts'
import { meaningOf } from './pattern.ts'
import { at, readList, readTable, addWrongValue, type Problems } from './reading.ts'
import { readAttribute } from './read-name.ts'

type SinglePattern = Exclude<Pattern, readonly unknown[]>

/** The condition as plain frozen data; undefined when it is not a table at all. */
export function readCondition(
  problems: Problems,
  path: string,
  value: unknown,
): Condition | undefined {
  const table = readTable(problems, path, value, 'a table of attributes and what each must be')
  if (table === undefined) return undefined
  const condition: [string, Pattern][] = []
  for (const [name, pattern] of table) {
    const here = at(path, name)
    readAttribute(problems, here, name)
    const read = readPattern(problems, here, name, pattern)
    if (read !== undefined) condition.push([name, read])
  }
  // Unlike an assignment, this makes a member of its own even of `__proto__`.
  return Object.freeze(Object.fromEntries(condition))
}

function readPattern(
  problems: Problems,
  path: string,
  attribute: string,
  value: unknown,
): Pattern | undefined {
  if (!isList(value)) return readSingle(problems, path, attribute, value)
  const list = readList(problems, path, value, '')
  if (list === undefined) return undefined
  if (list.length === 0) addWrongValue(problems, path, value, 'a list of at least one pattern')
  const patterns = list.map((single, i) => readSingle(problems, at(path, i), attribute, single))
  return Object.freeze(patterns.filter((single) => single !== undefined))
}

function readSingle(
  problems: Problems,
  path: string,
  attribute: string,
  value: unknown,
): SinglePattern | undefined {
  const plain = plainOf(problems, path, value)
  if (plain === UNREADABLE) return undefined
  const meaning = meaningOf(attribute, plain)
  if (typeof meaning !== 'string') return plain as SinglePattern
  addWrongValue(problems, path, plain, meaning)
  return undefined
}

const UNREADABLE = Symbol('unreadable')

/** A copy of an object pattern, so that what was checked is what is kept. */
function plainOf(problems: Problems, path: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || isList(value)) return value
  const table = readTable(problems, path, value, '')
  return table === undefined ? UNREADABLE : Object.freeze(Object.fromEntries(table))
}

function isList(value: unknown): boolean {
  try {
    return Array.isArray(value)
  } catch {
    // A revoked proxy: reading it as a table reports it.
    return false
  }
}
