// The paths and methods of routes in source code, as conditions of rules.
import type { Rule } from 'sluice'
import type { Note } from './imported.ts'

/** The requests that a limit applies to in the code that was read. */
export interface Place {
  readonly line: number
  /** Upper case; undefined for every method. */
  readonly methods?: readonly string[] | undefined
  /** Whether it is HEAD without GET there, which a rule cannot say. */
  readonly isWider?: boolean
  /** Undefined for every route. */
  readonly routes?: readonly RoutePath[] | undefined
}

/** One path: the patterns of a condition, and the routes that a service declares for it. */
interface RoutePath {
  readonly patterns: readonly string[]
  readonly declared: readonly string[]
}

/** Methods by which frameworks name their route functions. */
export const METHODS: readonly string[] = [
  'get',
  'head',
  'post',
  'put',
  'patch',
  'delete',
  'options',
]

const PLAIN = /^(\/(:\w+|[\w.~-]+))*$/
const REST = /\/(\*\w*|\{\*\w+\})$/

/**
 * A path as conditions can say it: `prefix` applies to the path and to everything below it. `'every'` for the root as a
 * prefix; undefined for paths with expressions or optional parts.
 */
export function routePath(path: string, isPrefix: boolean): RoutePath | 'every' | undefined {
  const below = REST.exec(path)
  const plain = (below === null ? path : path.slice(0, below.index)).replace(/\/+$/, '')
  if (!PLAIN.test(plain) || !/^(\/|$)/.test(path)) return undefined
  if (plain === '' && (isPrefix || below !== null)) return 'every'
  const exact = plain === '' ? '/' : plain
  if (!isPrefix && below === null) return { patterns: [exact], declared: [exact] }
  const rest = { patterns: [`${plain}/*`], declared: [`${plain}/{rest*}`] }
  if (below !== null) return rest
  return { patterns: [exact, ...rest.patterns], declared: [exact, ...rest.declared] }
}

/** The method by which Sluice counts a request: `HEAD` counts as `GET`. */
export function methodOf(name: string): string {
  const method = name.toUpperCase()
  return method === 'HEAD' ? 'GET' : method
}

/** The rule with the condition of each place: one rule for all places with the same methods. */
export function placed(
  rule: Rule,
  places: readonly Place[],
  notes: Note[],
): { readonly rules: readonly Rule[]; readonly declared: readonly string[] } {
  const groups = new Map<string, Place[]>()
  for (const place of places) {
    const key = place.methods?.join() ?? ''
    groups.set(key, [...(groups.get(key) ?? []), place])
  }
  if (groups.size > 1)
    notes.push({
      line: places[1]!.line,
      text: 'the routes of this limit share one count there; here each rule has a count of its own',
    })
  for (const { line, isWider } of places)
    if (isWider === true)
      notes.push({
        line,
        text: 'HEAD counts as GET here, so the rule also applies to GET; there it limited HEAD alone',
      })
  const found = [...groups.values()]
  return {
    rules: found.map((group) => ({ ...rule, ...whenOf(group) })),
    declared: found.flatMap((group) => routesOf(group).flatMap(({ declared }) => declared)),
  }
}

function routesOf(group: readonly Place[]): readonly RoutePath[] {
  return group.some(({ routes }) => routes === undefined)
    ? []
    : group.flatMap(({ routes }) => routes ?? [])
}

function whenOf(group: readonly Place[]): Pick<Rule, 'when'> {
  const methods = group[0]?.methods
  const patterns = [...new Set(routesOf(group).flatMap((route) => route.patterns))]
  if (methods === undefined && patterns.length === 0) return {}
  return {
    when: {
      ...(methods !== undefined && { method: oneOrAll(methods) }),
      ...(patterns.length > 0 && { route: oneOrAll(patterns) }),
    },
  }
}

function oneOrAll(values: readonly string[]): string | readonly string[] {
  return values.length === 1 ? values[0]! : values
}
