// A file of descriptors as a tree of strings with their places: numbers and booleans stay as they were written.
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document } from 'yaml'
import type { ConfigProblem } from '../../config/problem.ts'

/** The largest file that is read, in characters. */
const MAX_CHARACTERS = 16_777_216
/** Deeper than any descriptor; aliases that hold themselves end here. */
const DEEPEST = 64

/** A place in a file, both numbers from 1. */
export interface Place {
  readonly line: number
  readonly column: number
}

/** A piece of the file. */
export type SourceNode = Place &
  (
    | { readonly kind: 'text'; readonly text: string; readonly isNull: boolean }
    | { readonly kind: 'list'; readonly items: readonly SourceNode[] }
    | { readonly kind: 'map'; readonly members: readonly Member[] }
  )

/** A name and what it holds. */
export interface Member extends Place {
  readonly name: string
  readonly value: SourceNode
}

/** The documents of a file, or what its syntax has wrong. Several may stand in one file, separated by `---`. */
export function readNode(
  text: string,
  file: string,
): { node: SourceNode } | { problems: readonly ConfigProblem[] } {
  if (text.length > MAX_CHARACTERS)
    return wrong(
      file,
      `the file has ${text.length} characters; accepted: at most ${MAX_CHARACTERS}`,
    )
  const lines = new LineCounter()
  // The failsafe schema takes every scalar as text: `value: 007` is not 7.
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    schema: 'failsafe',
  })
  if (document.errors.length > 0) {
    const problems = document.errors.map(({ message, pos }) => {
      const { line, col } = lines.linePos(pos[0])
      return { file, line, column: col, path: '', message: `not valid YAML: ${message}` }
    })
    return { problems }
  }
  try {
    return { node: new Reader(document, lines).read(document.contents, 0) }
  } catch (error) {
    return wrong(file, `not valid YAML: ${(error as Error).message}`)
  }
}

function wrong(file: string, message: string): { problems: readonly ConfigProblem[] } {
  return { problems: [{ file, line: 1, column: 1, path: '', message }] }
}

class Reader {
  private readonly document: Document
  private readonly lines: LineCounter

  constructor(document: Document, lines: LineCounter) {
    this.document = document
    this.lines = lines
  }

  read(node: unknown, depth: number): SourceNode {
    if (depth > DEEPEST) throw new Error(`it is nested more than ${DEEPEST} deep`)
    if (isAlias(node)) return this.read(node.resolve(this.document), depth + 1)
    const place = this.place(node)
    if (isSeq(node)) {
      const items = node.items.map((item) => this.read(item, depth + 1))
      return { ...place, kind: 'list', items }
    }
    if (isMap(node)) return { ...place, kind: 'map', members: this.members(node.items, depth) }
    const value = isScalar(node) ? node.value : ''
    const isPlain = isScalar(node) && node.type === 'PLAIN'
    const text = typeof value === 'string' ? value : ''
    const isNull = !isScalar(node) || (isPlain && /^(?:|~|null)$/i.test(text))
    return { ...place, kind: 'text', text, isNull }
  }

  /** `<<` brings in the members of another map that this one does not name itself. */
  private members(
    pairs: readonly { readonly key: unknown; readonly value: unknown }[],
    depth: number,
  ): readonly Member[] {
    const own: Member[] = []
    const merged: Member[] = []
    for (const { key, value } of pairs) {
      const name = this.read(key, depth + 1)
      const text = name.kind === 'text' ? name.text : ''
      const inner = this.read(value, depth + 1)
      const sources = inner.kind === 'list' ? inner.items : [inner]
      if (text === '<<') {
        for (const one of sources)
          if (one.kind === 'map') for (const member of one.members) merged.push(member)
      } else own.push({ line: name.line, column: name.column, name: text, value: inner })
    }
    const named = new Set(own.map(({ name }) => name))
    return [...own, ...merged.filter(({ name }) => !named.has(name) && named.add(name))]
  }

  private place(node: unknown): Place {
    const range = (node as { range?: readonly number[] | null } | null)?.range
    const { line, col } = this.lines.linePos(range?.[0] ?? 0)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
}
