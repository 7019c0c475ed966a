// Puts variables of the environment into the values of a parsed file: `${NAME}`, or `${NAME:-default}`.
import { isPair, isScalar, isSeq, parse, visit, type Document, type Node } from 'yaml'
import type { Step } from './problem.ts'
import type { Environment } from './environment.ts'

/** A reference that cannot be replaced: why, and where it is. */
export interface UnreadReference {
  readonly message: string
  readonly steps: readonly Step[]
  /** Where the value begins in the text. */
  readonly offset: number
}

/** `$${` is an escaped `${`. */
const REFERENCE = /\$(\$\{)|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

/** What is left of a value without references, if it has the beginning of another one. */
const OTHER_REFERENCE = /\$\{[^}]{0,40}\}?/
/** A reference in a name. */
const IN_NAME = /(?<!\$)\$\{[A-Za-z_]/

/**
 * Replaces the references in all values, and returns those that cannot be replaced. A value without quotes that is one
 * reference is read as YAML reads its text, so that `port: ${PORT}` is a number if the number has the same text;
 * everything else stays a string. A reference in a key, or one that is not complete, cannot be replaced. An empty
 * variable counts as not set.
 */
export function interpolate(
  document: Document,
  environment: Environment,
): readonly UnreadReference[] {
  const missing: UnreadReference[] = []
  visit(document, {
    Scalar(key, scalar, path) {
      const { value, type } = scalar
      if (typeof value !== 'string' || !value.includes('${')) return
      const refuse = (message: string): void => {
        missing.push({ message, steps: stepsTo(key, path), offset: scalar.range?.[0] ?? 0 })
      }
      if (key === 'key') {
        if (IN_NAME.test(value))
          refuse(
            `${value} is a name, and variables are read in values alone; write the name itself`,
          )
        return
      }
      const other = OTHER_REFERENCE.exec(value.replaceAll(REFERENCE, ' '))?.[0]
      if (other !== undefined) {
        refuse(
          `${other} is no reference to a variable; accepted: \${NAME}, \${NAME:-default}, or $\${ for a plain \${`,
        )
        return
      }
      let isWhole = false
      const text = value.replace(REFERENCE, (found, escaped, name: string, normal?: string) => {
        if (escaped !== undefined) return '${'
        isWhole = found === value
        const set = environment[name]
        if (set !== undefined && set !== '') return set
        if (normal !== undefined) return normal
        refuse(`the variable ${name} is not set; set it, or write a default: \${${name}:-value}`)
        return found
      })
      scalar.value = isWhole && type === 'PLAIN' ? scalarOf(text) : text
    },
  })
  return missing
}

/** What YAML makes of a string, as far as that is no list, no object and no syntax. */
function scalarOf(text: string): unknown {
  try {
    const value: unknown = parse(text, { logLevel: 'silent' })
    // 007 stays the text that it is: as a number it would be compared as 7.
    const isLiteral = typeof value === 'number' || typeof value === 'boolean'
    return isLiteral && String(value) === text ? value : text
  } catch {
    return text
  }
}

/** The steps to a visited node; those to a key end with it. */
export function stepsTo(
  key: number | string | null,
  path: readonly (Document | Node | object)[],
): readonly Step[] {
  const steps: Step[] = []
  for (const [i, node] of path.entries()) {
    const next = path[i + 1]
    if (isPair(node) && isScalar(node.key)) steps.push(String(node.key.value))
    else if (isSeq(node)) steps.push(next === undefined ? Number(key) : node.items.indexOf(next))
  }
  return steps
}
