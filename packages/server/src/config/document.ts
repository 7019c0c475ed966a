// Reads YAML or JSON text into plain data that remembers where each part of it was written.
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Node,
  type YAMLMap,
} from 'yaml'
import { interpolate } from './interpolate.ts'
import { pathText, type ConfigProblem, type ConfigRemark, type Step } from './problem.ts'
import { bareDurations, remarksOn } from './text-remarks.ts'
import type { Environment } from './environment.ts'

/** The largest file that is read, in characters. */
const MAX_LENGTH = 1_048_576
/** Few aliases are enough for any policy, and many make small files explode. */
const MAX_ALIASES = 100
/** The most values that a file may hold: each of them costs the parser about a kilobyte. */
const MAX_VALUES = 100_000

/** Mistakes of syntax that are reported: one quote too many makes mistakes of all that follows. */
const MAX_FAULTS = 100

/** A place in a file, both numbers from 1. */
interface Position {
  readonly line: number
  readonly column: number
}

/** Plain data and the way back to the text. */
export interface SourceDocument {
  readonly value: unknown
  /** What the text shows that the data does not. */
  readonly remarks: readonly ConfigRemark[]
  /** Where a member is written, or the nearest part around it; `key` asks for its name instead of its value. */
  readonly positionOf: (steps: readonly Step[], part?: 'key' | 'value') => Position
}

/** What is wrong with the size of a file, found without parsing it; undefined when nothing is. */
export function sizeProblem(text: string): string | undefined {
  if (text.length > MAX_LENGTH)
    return `the file has ${text.length} characters; accepted: at most ${MAX_LENGTH}`
  if (separatorsIn(text) > MAX_VALUES)
    return `the file holds too many values; accepted: at most ${MAX_VALUES}`
  return undefined
}

/** The document with the variables of the environment in its values, or what is wrong with its syntax. JSON is YAML too. */
export function readDocument(
  text: string,
  file: string,
  environment: Environment = {},
): { document: SourceDocument } | { problems: readonly ConfigProblem[] } {
  const wrong = (message: string, position: Position = { line: 1, column: 1 }) => ({
    problems: [{ file, ...position, path: '', message }],
  })
  const tooLarge = sizeProblem(text)
  if (tooLarge !== undefined) return wrong(tooLarge)
  const lines = new LineCounter()
  const placed = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  try {
    // The parser's own search for repeated keys compares each with each.
    const uniqueKeys = false
    const options = {
      lineCounter: lines,
      prettyErrors: false,
      logLevel: 'error',
      uniqueKeys,
    } as const
    const parsed = parseDocument(text, options)
    const faults = [
      ...parsed.errors.slice(0, MAX_FAULTS),
      ...parsed.warnings.slice(0, MAX_FAULTS),
      ...repeatedKeys(parsed),
    ].slice(0, MAX_FAULTS)
    if (faults.length > 0) {
      const bare = bareReferences(text, faults)
      if (bare.length > 0)
        return {
          problems: bare.map(({ message, pos }) => ({
            file,
            ...placed(pos[0]),
            path: '',
            message,
          })),
        }
      const problems = faults.map(({ message, pos }) => {
        const unclosed = /^Missing closing .quote/.test(message)
          ? openingQuote(text, pos[0])
          : undefined
        if (unclosed === undefined)
          return {
            file,
            ...placed(pos[0]),
            path: '',
            message: `not valid YAML: ${inOurWords(message)}`,
          }
        const what = 'not valid YAML: the string that begins here has no closing quote'
        return { file, ...placed(unclosed), path: '', message: what }
      })
      return { problems }
    }
    const written = remarksOn(parsed)
    const missing = interpolate(parsed, environment)
    if (missing.length > 0) {
      const problems = missing.map(({ message, steps, offset }) => {
        const path = pathText(steps)
        return { file, ...placed(offset), path, message: `${path}: ${message}` }
      })
      return { problems }
    }
    const remarks = [...written, ...bareDurations(parsed)]
    const value = parsed.toJS({ maxAliasCount: MAX_ALIASES }) as unknown
    return { document: { value, remarks, positionOf: finder(parsed, placed) } }
  } catch (error) {
    // Aliases of nothing, too many of them, and lists nested beyond the stack.
    return wrong(`not valid YAML: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** What the parser says about several documents is for programmers. */
function inOurWords(message: string): string {
  return message.startsWith('Source contains multiple documents')
    ? 'a second document begins here; accepted: one document, without a line ---'
    : message
}

/**
 * Variables without quotes inside `{ }` or `[ ]`, where YAML takes the brace for an object. Whatever else is wrong
 * follows from them.
 */
function bareReferences(text: string, faults: readonly Fault[]): readonly Fault[] {
  return faults.flatMap(({ pos: [offset] }) => {
    const reference = /^\$\{[A-Za-z_]\w*(?::-[^}\n]*)?\}/.exec(text.slice(offset - 1))?.[0]
    if (reference === undefined) return []
    const message = `${reference} needs quotes inside { } and [ ]: write "${reference}"; for a number, write the value on a line of its own instead`
    return [{ message, pos: [offset - 1, offset] }]
  })
}

/** Where the quoted string begins that is still open at an offset. The parser names the place where it stopped. */
function openingQuote(text: string, offset: number): number | undefined {
  let start = 0
  let opening: number | undefined
  for (const token of new Lexer().lex(text)) {
    // Tokens of one control character mark the beginnings of parts, and stand for no text.
    if (text.startsWith(token, start)) {
      if (start >= offset) break
      if (/^["']/.test(token)) opening = start
      start += token.length
    }
  }
  return opening
}

/** No file holds more values than it has separators, wherever they are. */
function separatorsIn(text: string): number {
  let count = 0
  let quotes = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 34 || code === 39) quotes++
    // Line feed, comma, colon, bracket, brace.
    if (code === 10 || code === 44 || code === 58 || code === 91 || code === 123) count++
  }
  // Text in quotes mostly stands beside one of the others.
  return count + quotes / 4
}

interface Fault {
  readonly message: string
  readonly pos: readonly [number, number]
}

/** Keys that a map has twice. */
function repeatedKeys(parsed: Document): readonly Fault[] {
  const faults: Fault[] = []
  visit(parsed, {
    Map(_, map) {
      const seen = new Set<unknown>()
      for (const { key } of map.items) {
        if (!isScalar(key)) continue
        const offset = key.range?.[0] ?? 0
        if (seen.has(key.value))
          faults.push({ message: 'Map keys must be unique', pos: [offset, offset + 1] })
        seen.add(key.value)
      }
    },
  })
  return faults
}

function finder(parsed: Document, placed: (offset: number) => Position) {
  return (steps: readonly Step[], part: 'key' | 'value' = 'value'): Position => {
    let node = parsed.contents as Node | null
    let offset = node?.range?.[0] ?? 0
    for (const [i, step] of steps.entries()) {
      const inner = isAlias(node) ? node.resolve(parsed) : node
      const isLast = i === steps.length - 1
      if (isSeq(inner) && typeof step === 'number') {
        node = (inner.items[step] ?? null) as Node | null
      } else if (isMap(inner)) {
        const pair = pairOf(inner, String(step))
        if (pair === undefined) break
        const value = (pair.value ?? null) as Node | null
        offset = (pair.key as Node).range?.[0] ?? offset
        if (isLast && part === 'key') break
        node = value
      } else break
      if (node?.range === undefined || node.range === null) break
      offset = node.range[0]
    }
    return placed(offset)
  }
}

function pairOf(map: YAMLMap, name: string) {
  return map.items.find(({ key }) => isScalar(key) && String(key.value) === name)
}
