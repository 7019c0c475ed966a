// A decision by any number of rules.
import type { Verdict } from '../limit/verdict.ts'
import type { Skipped } from './decision.ts'
import { Deciding, type Spoken } from './deciding.ts'

/** A decision by any number of rules. */
export class Decided extends Deciding {
  readonly allowed: boolean
  readonly skipped: readonly Skipped[]
  protected readonly spoken: readonly Spoken[]
  protected readonly verdicts: readonly Verdict[]

  constructor(
    spoken: readonly Spoken[],
    verdicts: readonly Verdict[],
    skipped: readonly Skipped[],
  ) {
    super()
    this.allowed = isAllowed(spoken, verdicts)
    this.spoken = spoken
    this.verdicts = verdicts
    this.skipped = skipped
  }

  protected get binding(): number {
    let binding = -1
    for (let i = 0; i < this.spoken.length; i++) {
      if (this.spoken[i]!.shadow) continue
      if (binding < 0 || isTighter(this.verdicts[i]!, this.verdicts[binding]!)) binding = i
    }
    return binding
  }
}

/** Whether nothing refuses but what has no say. */
function isAllowed(spoken: readonly Spoken[], verdicts: readonly Verdict[]): boolean {
  // By the rules: a store that has left one out is wrong, and fails here instead of letting through.
  for (let i = 0; i < spoken.length; i++) {
    if (!verdicts[i]!.allowed && !spoken[i]!.shadow) return false
  }
  return true
}

/** Refusing before allowing; among refusals the longer wait, else the less remaining. */
function isTighter(a: Verdict, b: Verdict): boolean {
  if (a.allowed !== b.allowed) return b.allowed
  if (a.allowed) return a.remaining < b.remaining
  return (a.retryAfter ?? Infinity) > (b.retryAfter ?? Infinity)
}
