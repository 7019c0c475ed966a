// Reads the names in a policy: of itself, of its rules, and of the attributes that they apply of.
import { LONGEST_NAME, NAME_PATTERN } from './fields.ts'
import { at, addProblem, readList, addWrongValue, type Problems } from './reading.ts'

const PRINTABLE = new RegExp(NAME_PATTERN)

/** The name of a policy or a rule. */
export function readName(problems: Problems, path: string, value: unknown): string | undefined {
  if (typeof value === 'string' && value.length <= LONGEST_NAME && PRINTABLE.test(value)) {
    return value
  }
  const accepted = `1 to ${LONGEST_NAME} printable ASCII characters, since names travel in HTTP headers`
  addWrongValue(problems, path, value, accepted)
  return undefined
}

/** The name of an attribute. */
export function readAttribute(
  problems: Problems,
  path: string,
  value: unknown,
): string | undefined {
  if (typeof value === 'string' && value !== '' && isShort(value)) return value
  addWrongValue(problems, path, value, `the name of an attribute, 1 to ${LONGEST_NAME} characters`)
  return undefined
}

/** Characters are code points, as the JSON Schema counts them; the first check spares us huge texts. */
function isShort(name: string): boolean {
  return name.length <= 2 * LONGEST_NAME && Array.from(name).length <= LONGEST_NAME
}

/** The attributes that make a key. */
export function readBy(
  problems: Problems,
  path: string,
  value: unknown,
): readonly string[] | undefined {
  const accepted = 'a list of attribute names; [] is one count for everybody'
  const list = readList(problems, path, value, accepted)
  if (list === undefined) return undefined
  const by = new Set<string>()
  for (const [i, entry] of list.entries()) {
    const name = readAttribute(problems, at(path, i), entry)
    if (name === undefined) continue
    if (by.has(name)) {
      addProblem(
        problems,
        at(path, i),
        name,
        `is "${name}" once more; accepted: each attribute once`,
      )
    }
    by.add(name)
  }
  return Object.freeze([...by])
}
