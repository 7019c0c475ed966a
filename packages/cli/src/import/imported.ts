// What an import found: policies in our format, and what it could not translate.
import type { Rule } from 'sluice'

/** What may be imported. */
export const SOURCES = [
  'express-rate-limit',
  '@fastify/rate-limit',
  'rate-limiter-flexible',
  'envoy',
  'nginx',
] as const

/** A policy as it is written into a file. */
export interface ImportedPolicy {
  readonly name: string
  readonly rules: readonly Rule[]
}

/** Something that has no counterpart, or another meaning here. */
export interface Note {
  /** The line in the file that was read, from 1; undefined for the file as a whole. */
  readonly line?: number | undefined
  readonly text: string
}

/** Replaces a part of the text that was read. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** What the service needs to know of the requests that proxies ask about. */
interface ImportedProxy {
  readonly routes?: readonly string[]
  readonly attributes?: Readonly<Record<string, string>>
}

/** The result of reading one file. */
export interface Imported {
  readonly policies: readonly ImportedPolicy[]
  readonly proxy?: ImportedProxy
  readonly notes: readonly Note[]
  /** What a policy file cannot say, and edited source code can. */
  readonly fileNotes?: readonly Note[]
  /** For source code: how the same file looks with our options. */
  readonly edits: readonly Edit[]
}

/** Reads the text of one file. */
export type Importer = (text: string, file: string) => Imported

/** The text with all edits made. */
export function edited(text: string, edits: readonly Edit[]): string {
  let result = text
  for (const { start, end, text: part } of edits.toSorted((a, b) => b.start - a.start))
    result = result.slice(0, start) + part + result.slice(end)
  return result
}

/** The policy with a number after each repeated name. */
export function withUniqueNames({ name, rules }: ImportedPolicy): ImportedPolicy {
  const seen = new Map<string, number>()
  return {
    name,
    rules: rules.map((rule) => {
      const times = (seen.get(rule.name) ?? 0) + 1
      seen.set(rule.name, times)
      return times === 1 ? rule : { ...rule, name: `${rule.name}-${times}` }
    }),
  }
}

/** A window as people write it: `15min`, `1h`, `500ms`. */
export function windowText(millis: number): string {
  const units = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 1000],
  ] as const
  const [unit, size] = units.find(([, size]) => millis % size === 0) ?? ['ms', 1]
  return `${millis / size}${unit}`
}
