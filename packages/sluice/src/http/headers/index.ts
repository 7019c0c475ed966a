// The header dialects by name.
import type { Dialect } from './dialect.ts'
import { draft7 } from './draft-7.ts'
import { structured } from './structured.ts'
import { draft3, draft6, legacy, legacyDelta } from './trio.ts'

/** The name of a header dialect. `structured` is the newest draft. */
export type DialectName =
  | 'structured'
  | 'draft-7'
  | 'draft-6'
  | 'draft-3'
  | 'x-ratelimit'
  | 'x-ratelimit-delta'

const DIALECTS: Readonly<Record<DialectName, () => Dialect>> = {
  structured,
  'draft-7': draft7,
  'draft-6': draft6,
  'draft-3': draft3,
  'x-ratelimit': legacy,
  'x-ratelimit-delta': legacyDelta,
}

/** The names, newest first. */
export const DIALECT_NAMES: readonly string[] = Object.keys(DIALECTS)

/** The dialect of a name. */
export function dialectOf(name: DialectName): Dialect {
  return DIALECTS[name]()
}
