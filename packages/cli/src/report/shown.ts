// Which candidates a chart draws, and in which colours: few enough to be told apart.
import type { CandidateResult, ReplayResult } from '../replay/result.ts'

/** A candidate that is drawn, and the place of its colour. */
export interface Shown {
  readonly candidate: CandidateResult
  readonly index: number
}

/** As many as there are colours that readers can tell apart. */
export const MAX_SHOWN = 6

/** The candidates that are drawn: the first ones. */
export function shownOf({ candidates }: ReplayResult): readonly Shown[] {
  return candidates.slice(0, MAX_SHOWN).map((candidate, index) => ({ candidate, index }))
}

/** The colour of a candidate or an algorithm; the style sheet has one for light and one for dark. */
export function colourOf(index: number): string {
  return `var(--c${(index % MAX_SHOWN) + 1})`
}
