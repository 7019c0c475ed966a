// Reading untrusted data for the policy parser: mistakes are collected with their paths, nothing is thrown.
import { show, type Problem } from '../errors.ts'
import { LONGEST_LIST } from './fields.ts'
import { acceptedNames, closestName } from '../options/suggest.ts'

/** The mistakes found so far. */
export type Problems = Problem[]

/** The path of a member, as a program would write it: `rules[2].limit`, `when["x-plan"]`. */
export function at(path: string, member: string | number): string {
  if (typeof member === 'number') return `${path}[${member}]`
  if (!/^[a-z_$][\w$]*$/i.test(member)) return `${path}[${show(member)}]`
  return path === '' ? member : `${path}.${member}`
}

/** Adds the mistake that the value at the path is not what is accepted. */
export function addWrongValue(
  problems: Problems,
  path: string,
  value: unknown,
  accepted: string,
  /** Those that the value may have meant. */
  names: readonly string[] = [],
): void {
  const found = value === undefined ? 'missing' : show(value)
  addProblem(problems, path, value, `is ${found}; ${acceptedNames(value, names, accepted)}`)
}

/** Adds a mistake; the message follows the path. */
export function addProblem(
  problems: Problems,
  path: string,
  value: unknown,
  message: string,
): void {
  problems.push({ path, value, message: `${path === '' ? 'policy' : path} ${message}` })
}

/** The value's own members, each read once; undefined, and a mistake noted, when it has none to read. */
export function readTable(
  problems: Problems,
  path: string,
  value: unknown,
  accepted: string,
): ReadonlyMap<string, unknown> | undefined {
  return readGuarded(problems, path, value, () => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      addWrongValue(problems, path, value, accepted)
      return undefined
    }
    const names = Object.keys(value)
    if (tooLong(problems, path, value, names.length)) return undefined
    return new Map(names.map((name) => [name, (value as Record<string, unknown>)[name]]))
  })
}

/** Like {@link readTable}, for an object whose members have known names. */
export function readFields(
  problems: Problems,
  path: string,
  value: unknown,
  names: readonly string[],
  accepted: string,
): ReadonlyMap<string, unknown> | undefined {
  const table = readTable(problems, path, value, accepted)
  for (const [name, member] of table ?? []) {
    if (names.includes(name)) continue
    const meant = closestName(name, names)
    const hint = meant === undefined ? `accepted: ${names.join(', ')}` : `did you mean ${meant}?`
    addProblem(problems, at(path, name), member, `is not a known field; ${hint}`)
  }
  return table
}

/** The entries of a list, each read once; undefined, and a mistake noted, when it is not a list. */
export function readList(
  problems: Problems,
  path: string,
  value: unknown,
  accepted: string,
): readonly unknown[] | undefined {
  return readGuarded(problems, path, value, () => {
    if (!Array.isArray(value)) {
      addWrongValue(problems, path, value, accepted)
      return undefined
    }
    const { length } = value as readonly unknown[]
    if (tooLong(problems, path, value, length)) return undefined
    return Array.from({ length }, (_, i): unknown => value[i])
  })
}

function tooLong(problems: Problems, path: string, value: unknown, length: number): boolean {
  if (length <= LONGEST_LIST) return false
  addProblem(problems, path, value, `has ${length} entries; accepted: at most ${LONGEST_LIST}`)
  return true
}

/** Getters and proxies may throw anything: that is a mistake in the policy like any other. */
function readGuarded<T>(
  problems: Problems,
  path: string,
  value: unknown,
  read: () => T,
): T | undefined {
  try {
    return read()
  } catch {
    addProblem(problems, path, value, 'throws when it is read; accepted: plain data')
    return undefined
  }
}
