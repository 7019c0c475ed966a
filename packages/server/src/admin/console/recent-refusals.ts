// Recent refusals of the keys refused most, in steps, for their sparklines.
import type { Millis } from 'sluice'

const STEP: Millis = 10_000
/** Steps that are kept: five minutes. */
const STEPS = 30

/** A key and its refusals since the service began. */
interface RefusedKey {
  readonly policy: string
  readonly rule: string
  readonly attributes: object
  readonly refused: number
  /** At most so much of `refused` may be another key's. */
  readonly error: number
}

interface Kept {
  readonly total: number
  readonly step: number
  readonly counts: readonly number[]
}

/** Remembers the totals of the keys it was shown last; those that leave the list are forgotten. */
export class RecentRefusals {
  private readonly most: number
  private kept: ReadonlyMap<string, Kept> | undefined

  /** The list holds at most so many keys; a shorter one holds every key that was refused. */
  constructor(most: number) {
    this.most = most
  }

  /** The same keys, each with its refusals in steps of ten seconds, the newest last. */
  add<T extends RefusedKey>(
    now: Millis,
    keys: readonly T[],
  ): readonly (T & { readonly lately: readonly number[] })[] {
    const step = Math.floor(now / STEP)
    const kept = new Map<string, Kept>()
    const wasWhole = this.kept !== undefined && this.kept.size < this.most
    const shown = keys.map((key) => {
      const id = JSON.stringify([key.policy, key.rule, key.attributes])
      const known = this.kept?.get(id)
      const passed = known === undefined ? STEPS : Math.max(0, step - known.step)
      const counts = [...(known?.counts ?? []), ...zeros(Math.min(STEPS, passed))].slice(-STEPS)
      // If the list held all keys, a new key was never refused before; otherwise its earlier refusals are unknown.
      const before = known?.total ?? (wasWhole ? key.error : key.refused)
      counts[STEPS - 1]! += Math.max(0, key.refused - before)
      kept.set(id, { total: key.refused, step: Math.max(step, known?.step ?? 0), counts })
      return { ...key, lately: counts }
    })
    this.kept = kept
    return shown
  }
}

function zeros(length: number): readonly number[] {
  return Array.from({ length }, () => 0)
}
