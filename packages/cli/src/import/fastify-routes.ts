// Which routes a limit of @fastify/rate-limit applies to: one route by its config, or those of a plugin with a prefix.
import type { Note } from './imported.ts'
import { METHODS, methodOf, routePath, type Place } from './routes.ts'
import { literalOf, nameOf, type SourceFile, type SyntaxNode } from './source.ts'

/** The limit of one route. */
export interface RouteLimit {
  readonly line: number
  /** The value of `config.rateLimit`. */
  readonly options: SyntaxNode
  /** Undefined if the path is computed at run time. */
  readonly place: Place | undefined
}

/** The limits of single routes in a file, in the order of the text. */
export function routeLimitsOf(source: SourceFile): readonly RouteLimit[] {
  const calls = source.all('CallExpression')
  return source
    .all('ObjectProperty')
    .filter(({ key }) => nameOf(key) === 'rateLimit')
    .map((member) => {
      const { line } = member.loc.start
      const options = member['value'] as SyntaxNode
      const call = around(calls, member).find((one) =>
        ['route', 'all', ...METHODS].includes(verbOf(one)),
      )
      const place = call === undefined ? undefined : routeOf(call, line, calls)
      return { line, options, place }
    })
}

/** The place of a registration: every route, or those below the prefix of the plugins around it. */
export function registrationPlace(source: SourceFile, call: SyntaxNode, notes: Note[]): Place {
  const { line } = call.loc.start
  const calls = source.all('CallExpression')
  const prefix = prefixOf(calls, call)
  const route = prefix === undefined || prefix === '' ? undefined : routePath(prefix, true)
  if (route !== undefined && route !== 'every') return { line, routes: [route] }
  if (plugins(calls, call).length > 0)
    notes.push({
      line,
      text: 'it limits the routes of one plugin there; the rule applies to every route: write when',
    })
  return { line }
}

function isHeadAlone(methods: readonly string[]): boolean {
  const names = methods.map((name) => name.toUpperCase())
  return names.includes('HEAD') && !names.includes('GET')
}

function routeOf(call: SyntaxNode, line: number, calls: readonly SyntaxNode[]): Place | undefined {
  const [first] = call['arguments'] as SyntaxNode[]
  const verb = verbOf(call)
  const url = verb === 'route' ? (memberOf(first, 'url') ?? memberOf(first, 'path')) : first
  const method = verb === 'route' ? memberOf(first, 'method') : undefined
  const names = method?.type === 'ArrayExpression' ? (method['elements'] as SyntaxNode[]) : [method]
  const methods = verb === 'route' ? names.map(nameOf) : [verb]
  const prefix = prefixOf(calls, call)
  const path = url === undefined ? undefined : literalOf(url)
  if (typeof path !== 'string' || prefix === undefined || methods.includes('')) return undefined
  const route = routePath(prefix === '' ? path : `${prefix}${path === '/' ? '' : path}`, false)
  if (route === undefined) return undefined
  return {
    line,
    methods: verb === 'all' ? undefined : [...new Set(methods.map(methodOf))],
    isWider: isHeadAlone(methods),
    routes: route === 'every' ? undefined : [route],
  }
}

/** The prefixes of all plugins around a node, joined; undefined if one is computed at run time. */
function prefixOf(calls: readonly SyntaxNode[], node: SyntaxNode): string | undefined {
  const prefixes = plugins(calls, node).map((call) => {
    const options = (call['arguments'] as SyntaxNode[])[1]
    if (options === undefined) return ''
    const prefix = memberOf(options, 'prefix')
    if (prefix === undefined) return options.type === 'ObjectExpression' ? '' : undefined
    return literalOf(prefix)
  })
  return prefixes.every((prefix) => typeof prefix === 'string')
    ? prefixes.map((prefix) => prefix.replace(/\/+$/, '')).join('')
    : undefined
}

/** The `register` calls whose plugin a node stands in, from the outside in. */
function plugins(calls: readonly SyntaxNode[], node: SyntaxNode): readonly SyntaxNode[] {
  return around(calls, node)
    .filter((call) => verbOf(call) === 'register')
    .toReversed()
}

/** The calls that a node stands in, the nearest first. */
function around(calls: readonly SyntaxNode[], node: SyntaxNode): readonly SyntaxNode[] {
  return calls
    .filter((call) => call !== node && call.start <= node.start && call.end >= node.end)
    .toSorted((a, b) => a.end - a.start - (b.end - b.start))
}

function verbOf(call: SyntaxNode): string {
  return nameOf((call['callee'] as SyntaxNode)['property'])
}

/** The value of a member of an object literal. */
function memberOf(node: SyntaxNode | undefined, name: string): SyntaxNode | undefined {
  if (node?.type !== 'ObjectExpression') return undefined
  const member = (node['properties'] as SyntaxNode[]).find(({ key }) => nameOf(key) === name)
  return member?.['value'] as SyntaxNode | undefined
}
