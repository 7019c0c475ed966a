// Puts variables of the environment into the values of a parsed file: `${NAME}`, or `${NAME:-default}`.
import { isPair, isScalar, isSeq, parse, visit, type Document, type Node } from 'yaml'
import type { Step } from './problem.ts'
import type { Environment } from './variable.ts'

/** A variable that is not set and has no default, and the place where it is named. */
export interface MissingVariable {
  readonly name: string
  readonly steps: readonly Step[]
  /** Where the value begins in the text. */
  readonly offset: number
}

/** `$${` stands for a plain `${`. */
const REFERENCE = /\$(\$\{)|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

/**
 * Replaces the references in all values, and gives those that cannot be replaced. A value without quotes that is one
 * reference is read as YAML reads its text, so that `port: ${PORT}` is a number; everything else stays a string.
 * Keys are left as they are. An empty variable counts as not set.
 */
export function interpolate(
  document: Document,
  environment: Environment,
): readonly MissingVariable[] {
  const missing: MissingVariable[] = []
  visit(document, {
    Scalar(key, scalar, path) {
      const { value, type } = scalar
      if (key === 'key' || typeof value !== 'string' || !value.includes('${')) return
      let isWhole = false
      const text = value.replace(REFERENCE, (found, escaped, name: string, normal?: string) => {
        if (escaped !== undefined) return '${'
        isWhole = found === value
        const set = environment[name]
        if (set !== undefined && set !== '') return set
        if (normal !== undefined) return normal
        missing.push({ name, steps: stepsTo(key, path), offset: scalar.range?.[0] ?? 0 })
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
    return typeof value === 'number' || typeof value === 'boolean' ? value : text
  } catch {
    return text
  }
}

function stepsTo(
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
