// What reading a file of descriptors has to say: mistakes, which stop it, and traps, which do not.
import type { ConfigProblem } from '../../config/problem.ts'
import type { Place } from './node.ts'

/** Traps in files of descriptors, each with its heading in the reference. */
export const TRAPS = [
  'address-value',
  'blocks-all',
  'depth-mismatch',
  'file-ignored',
  'hidden-by-value',
  'metric-ignored',
  'misplaced-field',
  'misspelled-key',
  'mode-without-limit',
  'no-descriptors',
  'no-files',
  'no-limit',
  'pattern-value',
  'plain-variable',
  'policy-hidden',
  'prefix-never-reached',
  'replaces-each-other',
  'replaces-nothing',
  'share-without-prefix',
  'star-inside',
  'stray-space',
  'unlimited-with-limit',
] as const

/** The name of a trap. */
export type FileTrap = (typeof TRAPS)[number]

/** A trap at a place in a file. */
export interface FileWarning extends ConfigProblem {
  readonly code: FileTrap
}

/** Collects what there is to say about one file. */
export class Notes {
  readonly problems: ConfigProblem[] = []
  readonly warnings: FileWarning[] = []
  private readonly file: string

  constructor(file: string) {
    this.file = file
  }

  wrong({ line, column }: Place, path: string, message: string): void {
    this.problems.push({ file: this.file, line, column, path, message })
  }

  warn(code: FileTrap, { line, column }: Place, path: string, message: string): void {
    this.warnings.push({ code, file: this.file, line, column, path, message })
  }
}
