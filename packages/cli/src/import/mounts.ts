// Where a file mounts the limiters of express-rate-limit: the paths and methods of `use`, of routes and of routers.
import type { Note } from './imported.ts'
import { METHODS, methodOf, routePath, type Place } from './routes.ts'
import { literalOf, nameOf, type SourceFile, type SyntaxNode } from './source.ts'

/** The places of a limiter that can be said in a condition, and what cannot. */
export interface Mounts {
  /** Empty if the limiter must get no rule. */
  readonly places: readonly Place[]
  readonly notes: readonly Note[]
}

/** One path argument: text, or undefined if it is computed at run time. */
type PathText = string | undefined

/** Finds mounts in one file. */
export class MountFinder {
  private readonly calls: readonly SyntaxNode[]
  private readonly variables = new Map<string, SyntaxNode>()
  private readonly source: SourceFile

  constructor(source: SourceFile) {
    this.source = source
    this.calls = source.all('CallExpression').filter(({ callee }) => isMember(callee))
    for (const declared of source.all('VariableDeclarator')) {
      const { id, init } = declared as unknown as { id: SyntaxNode; init: SyntaxNode | null }
      if (id.type === 'Identifier' && init !== null) this.variables.set(nameOf(id), init)
    }
  }

  /** The mounts of the limiter that a call makes. */
  of(limiter: SyntaxNode): Mounts {
    const name = [...this.variables].find(([, init]) => init === limiter)?.[0]
    const isLimiter = (node: SyntaxNode): boolean =>
      node === limiter ||
      (name !== undefined && node.type === 'Identifier' && nameOf(node) === name)
    const mounts = this.calls.filter((call) => argumentsOf(call).some(isLimiter))
    const notes: Note[] = []
    const places = mounts.flatMap((call) => this.placesOf(call, isLimiter, notes))
    if (mounts.length > 0) return { places, notes }
    const { line } = limiter.loc.start
    const text = 'this file does not mount the limiter; its rule applies to every route: write when'
    return { places: [{ line }], notes: [{ line, text }] }
  }

  private placesOf(
    call: SyntaxNode,
    isLimiter: (node: SyntaxNode) => boolean,
    notes: Note[],
  ): readonly Place[] {
    const { line } = call.loc.start
    const { property, object } = call['callee'] as { property: SyntaxNode; object: SyntaxNode }
    const verb = nameOf(property)
    if (verb !== 'use' && verb !== 'all' && !METHODS.includes(verb)) {
      notes.push({
        line,
        text: `${verb}: where it mounts the limiter is not known; its rule applies to every route: write when`,
      })
      return [{ line }]
    }
    const { receiver, path: routed } = rootOf(object)
    const [first] = call['arguments'] as SyntaxNode[]
    const node = routed ?? (isLimiter(first!) ? undefined : first)
    const isPrefix = verb === 'use'
    const own = node === undefined ? [''] : this.pathsOf(node, isPrefix && routed === undefined)
    if (isPrefix && node !== undefined && this.mayBePath(node))
      notes.push({
        line,
        text: `use: ${this.source.textOf(node)} may be a path; the rule applies to every route: write when`,
      })
    const outerPrefixes = this.prefixesOf(receiver, line, notes)
    const methods = isPrefix || verb === 'all' ? undefined : [methodOf(verb)]
    const found = outerPrefixes.flatMap((prefix) =>
      own.map((path) =>
        prefix === undefined || path === undefined
          ? undefined
          : routePath(joined(prefix, path), isPrefix || node === undefined),
      ),
    )
    const routes = found.filter((route) => route !== undefined)
    if (routes.length < found.length) {
      const text = node === undefined ? 'the path of its router' : this.source.textOf(node)
      notes.push({
        line,
        text: `${verb}: ${text} is not a path that a condition can say; no rule was written for it`,
      })
    }
    if (routes.length === 0) return []
    const isEvery = routes.includes('every')
    return [
      {
        line,
        methods,
        isWider: verb === 'head',
        routes: isEvery ? undefined : routes.filter((one) => one !== 'every'),
      },
    ]
  }

  /** The paths in an argument. Of `use`, the first argument may be a handler, which has none. */
  private pathsOf(node: SyntaxNode, mayBeHandler: boolean): readonly PathText[] {
    if (node.type === 'ArrayExpression') {
      const items = (node['elements'] as SyntaxNode[]).flatMap((item) => this.pathsOf(item, false))
      return mayBeHandler && items.every((item) => item === undefined) ? [''] : items
    }
    const variable = node.type === 'Identifier' ? this.variables.get(nameOf(node)) : undefined
    const value = literalOf(variable ?? node)
    if (typeof value === 'string') return [value]
    const isPath = ['RegExpLiteral', 'TemplateLiteral', 'BinaryExpression'].includes(
      (variable ?? node).type,
    )
    return [mayBeHandler && !isPath ? '' : undefined]
  }

  /** A name that this file gives no value. */
  private mayBePath(node: SyntaxNode): boolean {
    return isMember(node) || (node.type === 'Identifier' && !this.variables.has(nameOf(node)))
  }

  /** The paths under which a router is mounted in this file; `''` for an application. */
  private prefixesOf(receiver: SyntaxNode, line: number, notes: Note[]): readonly PathText[] {
    const name = nameOf(receiver)
    const made = this.variables.get(name)
    const isRouter =
      made === undefined ? /router$/i.test(name) : /\bRouter\s*\(/.test(this.source.textOf(made))
    if (!isRouter) return ['']
    const mounts = this.calls.filter(
      (call) =>
        nameOf((call['callee'] as SyntaxNode)['property']) === 'use' &&
        argumentsOf(call).some((node) => node.type === 'Identifier' && nameOf(node) === name) &&
        nameOf(rootOf((call['callee'] as SyntaxNode)['object'] as SyntaxNode).receiver) !== name,
    )
    if (mounts.length === 0)
      notes.push({
        line,
        text: `${name} is mounted in another file; add the path of its mount to route`,
      })
    const prefixes = mounts.flatMap((call) => {
      const [first] = call['arguments'] as SyntaxNode[]
      return nameOf(first) === name ? [''] : this.pathsOf(first!, true)
    })
    return mounts.length === 0 ? [''] : prefixes
  }
}

function isMember(node: unknown): boolean {
  return (node as SyntaxNode).type === 'MemberExpression'
}

/** The arguments of a call, and the members of those that are lists. */
function argumentsOf(call: SyntaxNode): readonly SyntaxNode[] {
  return (call['arguments'] as SyntaxNode[]).flatMap((node) =>
    node.type === 'ArrayExpression' ? (node['elements'] as SyntaxNode[]) : [node],
  )
}

/** What a chain of calls begins with, and the path of `route(path)` in it. */
function rootOf(object: SyntaxNode): { receiver: SyntaxNode; path: SyntaxNode | undefined } {
  let receiver = object
  let path: SyntaxNode | undefined
  while (receiver.type === 'CallExpression' && isMember(receiver['callee'])) {
    const callee = receiver['callee'] as SyntaxNode
    if (nameOf(callee['property']) === 'route') path ??= (receiver['arguments'] as SyntaxNode[])[0]
    receiver = callee['object'] as SyntaxNode
  }
  return { receiver, path }
}

function joined(prefix: string, path: string): string {
  return prefix === '' ? path : `${prefix.replace(/\/+$/, '')}${path === '/' ? '' : path}`
}
