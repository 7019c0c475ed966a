// What is wrong with a configuration, where, and what was probably meant.
import { closestName } from 'sluice'

/** One mistake. */
export interface ConfigProblem {
  /** The file, as it was named, or `environment`. */
  readonly file: string
  /** From 1; absent when the mistake has no place in a file. */
  readonly line?: number
  readonly column?: number
  /** Where in the data, such as `policies[0].rules[2].limit`; '' is the whole of it. */
  readonly path: string
  /** The mistake as a sentence. */
  readonly message: string
}

/** What the text of a file, or the environment, shows that is allowed but probably not meant; the values alone do not show it. */
export interface ConfigRemark {
  readonly code: 'unquoted-number' | 'unread-variable' | 'bare-duration' | 'untrusted-address'
  /** Whether it is about the environment, and has no place in the file. */
  readonly isOfEnvironment?: boolean
  readonly steps: readonly Step[]
  readonly message: string
}

/** A mistake as compilers print it: `sluice.yaml:12:7: …`. */
export function problemText({ file, line, column, message }: ConfigProblem): string {
  const place = line === undefined ? file : `${file}:${line}:${column ?? 1}`
  return `${place}: ${message}`
}

/** A member's name, or its place in a list. */
export type Step = string | number

/** The way to a member, as a program would write it: `listeners.http.port`, `policies[0]`. */
export function pathText(steps: readonly Step[]): string {
  return steps.reduce<string>((path, step) => {
    if (typeof step === 'number') return `${path}[${step}]`
    if (!/^[a-z_$][\w$]*$/i.test(step)) return `${path}[${JSON.stringify(step)}]`
    return path === '' ? step : `${path}.${step}`
  }, '')
}

/** The steps of a path that the library has written; what it has shortened ends the list. */
export function stepsOf(path: string): readonly Step[] {
  const steps: Step[] = []
  for (const [, name, index, quoted] of path.matchAll(
    /([a-z_$][\w$]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/gi,
  )) {
    if (index !== undefined) steps.push(Number(index))
    else steps.push(name ?? (JSON.parse(quoted ?? '""') as string))
  }
  return steps
}

/** A value for a message: short, and quoted when it is text. */
export function shown(value: unknown): string {
  const text = textOf(value)
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    // Nested deeper than the stack is: a parser reads that, and nothing can write it.
    return Array.isArray(value) ? '[...]' : '{...}'
  }
}

/** A name that differs from this one by at most two letters and fewer than half of its own; undefined when there is none. */
export function nearestName(name: string, names: Iterable<string>): string | undefined {
  return closestName(name, [...names], Math.min(2, Math.floor((name.length - 1) / 2)))
}

/** `; did you mean x?` for a message, or nothing. */
export function didYouMean(name: string, names: Iterable<string>): string {
  const nearest = nearestName(name, names)
  return nearest === undefined ? '' : `; did you mean ${nearest}?`
}
