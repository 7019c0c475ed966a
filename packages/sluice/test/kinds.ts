// The arithmetics of the library: the algorithms, and their variants that fields of a limit choose.
import { ALGORITHMS, type AlgorithmName, type LimitFields } from '../src/limit/limit.ts'

/** The fields of a limit that choose an arithmetic; a window is not among them, unless it is the calendar's. */
export type KindFields = Partial<LimitFields> & { readonly algorithm: AlgorithmName }

const VARIANTS = {
  'first-window': [{ algorithm: 'fixed-window', anchor: 'first' }],
  'calendar-window': [
    { algorithm: 'fixed-window', calendar: 'day', timeZone: 'Europe/Berlin' },
    { algorithm: 'fixed-window', calendar: 'week', timeZone: 'America/St_Johns' },
    { algorithm: 'fixed-window', calendar: 'month', timeZone: 'Pacific/Apia', startsOn: 31 },
  ],
  'stamped-log': [
    { algorithm: 'sliding-log', stamps: 1 },
    { algorithm: 'sliding-log', stamps: 3 },
    { algorithm: 'sliding-log', stamps: 32 },
  ],
} as const satisfies Record<string, readonly KindFields[]>

/** An algorithm or a variant. */
export type Kind = AlgorithmName | keyof typeof VARIANTS

/** The variants. */
export const VARIANT_KINDS = Object.keys(VARIANTS) as readonly (keyof typeof VARIANTS)[]

/** All of them. */
export const KINDS: readonly Kind[] = [...ALGORITHMS, ...VARIANT_KINDS]

/** The fields that choose a kind: one of several where there are. */
export function kindFields(kind: Kind): readonly KindFields[] {
  return kind in VARIANTS
    ? VARIANTS[kind as keyof typeof VARIANTS]
    : [{ algorithm: kind as AlgorithmName }]
}
