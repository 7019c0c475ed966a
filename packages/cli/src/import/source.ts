// Reads JavaScript and TypeScript far enough to find calls and the literal values of their options.
import { parse } from '@babel/parser'
import { Mistake } from '../terminal/mistake.ts'

/** A node of the syntax tree, with the fields that imports read. */
export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly loc: { readonly start: { readonly line: number } }
  readonly [field: string]: unknown
}

/** One option of an object literal. */
export interface CallOption {
  readonly name: string
  readonly line: number
  /** The text of its value. */
  readonly text: string
  readonly isFunction: boolean
  /** A number, string, boolean or null; undefined for everything that only the program knows. */
  readonly value: unknown
}

/** The options of an object literal; undefined if it is not a literal, or has members that are computed at run time. */
export type CallOptions = ReadonlyMap<string, CallOption>

/** A parsed file. */
export class SourceFile {
  readonly text: string
  private readonly root: SyntaxNode

  constructor(text: string, file: string) {
    this.text = text
    const isTyped = /\.[cm]?ts$/.test(file)
    try {
      const parsed = parse(text, {
        sourceType: 'unambiguous',
        errorRecovery: true,
        plugins: isTyped
          ? ['typescript', 'decorators']
          : file.endsWith('.tsx')
            ? ['typescript', 'jsx', 'decorators']
            : ['jsx'],
      })
      this.root = parsed.program as unknown as SyntaxNode
    } catch (error) {
      throw new Mistake(`${file} cannot be parsed: ${(error as Error).message}`)
    }
  }

  /** Every node of a type, in the order of the text. */
  all(type: string): readonly SyntaxNode[] {
    const found: SyntaxNode[] = []
    const walk = (value: unknown): void => {
      if (Array.isArray(value)) for (const item of value) walk(item)
      else if (isNode(value)) {
        if (value.type === type) found.push(value)
        for (const [name, member] of Object.entries(value)) if (name !== 'loc') walk(member)
      }
    }
    walk(this.root)
    return found.toSorted((a, b) => a.start - b.start)
  }

  textOf({ start, end }: SyntaxNode): string {
    return this.text.slice(start, end)
  }

  /** The options of an object literal. Spread members have the name `...`. */
  optionsOf(node: SyntaxNode | undefined): CallOptions | undefined {
    if (node?.type !== 'ObjectExpression') return undefined
    const options = new Map<string, CallOption>()
    for (const member of node['properties'] as SyntaxNode[]) {
      const { line } = member.loc.start
      const key = member['key'] as SyntaxNode | undefined
      const isMethod = member.type === 'ObjectMethod'
      const value = isMethod ? member : (member['value'] as SyntaxNode | undefined)
      if (key === undefined || value === undefined || member['computed'] === true) {
        const text = this.textOf(member)
        options.set('...', { name: '...', line, text, isFunction: false, value: undefined })
        continue
      }
      const name = nameOf(key)
      const isFunction = isMethod || /^(Arrow)?Function/.test(value.type)
      const text = isMethod ? functionText(this.textOf(member), name) : this.textOf(value)
      options.set(name, { name, line, text, isFunction, value: literalOf(value) })
    }
    return options
  }

  /**
   * The names under which a file uses a package: by `import` and by `require`. `default` is the package itself; each
   * name comes with the statement that makes it.
   */
  namesFrom(packageName: string): ReadonlyMap<string, { imported: string; statement: SyntaxNode }> {
    const names = new Map<string, { imported: string; statement: SyntaxNode }>()
    for (const statement of this.all('ImportDeclaration')) {
      if ((statement['source'] as SyntaxNode)['value'] !== packageName) continue
      for (const specifier of statement['specifiers'] as SyntaxNode[]) {
        const local = nameOf(specifier['local'])
        const { imported } = specifier
        names.set(local, {
          imported: imported === undefined ? 'default' : nameOf(imported),
          statement,
        })
      }
    }
    for (const statement of this.all('VariableDeclaration')) {
      for (const declared of statement['declarations'] as SyntaxNode[]) {
        const { id, init } = declared as SyntaxNode & { id: SyntaxNode; init?: SyntaxNode | null }
        if (init === null || init === undefined || !isRequireOf(init, packageName)) continue
        if (id.type === 'Identifier') names.set(nameOf(id), { imported: 'default', statement })
        if (id.type !== 'ObjectPattern') continue
        for (const member of id['properties'] as SyntaxNode[]) {
          const key = member['key'] as SyntaxNode
          const value = member['value'] as SyntaxNode
          names.set(nameOf(value), { imported: nameOf(key), statement })
        }
      }
    }
    return names
  }
}

/** Whether an expression is `require('name')`, or a member of it. */
export function isRequireOf(node: SyntaxNode, packageName: string): boolean {
  if (node.type === 'MemberExpression')
    return isRequireOf(node['object'] as SyntaxNode, packageName)
  if (node.type !== 'CallExpression') return false
  const [argument] = node['arguments'] as SyntaxNode[]
  const { name } = node['callee'] as { name?: string }
  return name === 'require' && argument?.['value'] === packageName
}

/** The name of an identifier, or the text of a string; '' for everything else. */
export function nameOf(node: unknown): string {
  const { name, value } = (node ?? {}) as { name?: unknown; value?: unknown }
  if (typeof name === 'string') return name
  return typeof value === 'string' ? value : ''
}

function isNode(value: unknown): value is SyntaxNode {
  return (
    typeof value === 'object' && value !== null && typeof (value as SyntaxNode).type === 'string'
  )
}

/** `handler(req, res) {…}` as a function of its own. */
function functionText(text: string, name: string): string {
  const isAsync = /^async\s/.test(text)
  const rest = text.slice(text.indexOf(name) + name.length)
  return `${isAsync ? 'async ' : ''}function ${rest}`
}

/** The value of a literal, or of arithmetic with literals such as `15 * 60 * 1000`. */
export function literalOf(node: SyntaxNode): unknown {
  switch (node.type) {
    case 'NumericLiteral':
    case 'StringLiteral':
    case 'BooleanLiteral':
      return node['value']
    case 'NullLiteral':
      return null
    case 'TemplateLiteral': {
      const [part] = node['quasis'] as { value: { cooked: string } }[]
      return (node['expressions'] as unknown[]).length === 0 ? part!.value.cooked : undefined
    }
    case 'ParenthesizedExpression':
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
      return literalOf(node['expression'] as SyntaxNode)
    case 'BinaryExpression': {
      const [left, right] = [node['left'], node['right']].map((side) =>
        literalOf(side as SyntaxNode),
      )
      if (typeof left !== 'number' || typeof right !== 'number') return undefined
      const { operator } = node as unknown as { operator: string }
      return { '*': left * right, '+': left + right, '-': left - right, '/': left / right }[
        operator
      ]
    }
    default:
      return undefined
  }
}
