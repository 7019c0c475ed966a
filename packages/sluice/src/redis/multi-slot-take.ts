// A request whose counts are in several cluster slots: taken group by group, refunded on a refusal.
import type { Verdict } from '../limit/verdict.ts'
import { chargedBy } from '../stores/pools.ts'
import type { Check } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import { longestResetOf, type Charge } from './charges.ts'
import type { Operation } from './shape.ts'

/** A check and its place in the request. */
export interface Indexed {
  readonly check: Check
  readonly index: number
}

type Group = readonly Indexed[]

/** The calls to one slot at a time. */
export interface SlotCalls {
  /** Decides the checks of one slot. */
  readonly run: (operation: Operation, checks: readonly Check[]) => Promise<readonly Verdict[]>
  /**
   * Refunds what was charged in one slot; repeated by the slots until it is confirmed. `isDoubtful`: a call of the take was not
   * answered in time. Never rejects.
   */
  readonly refund: (charges: readonly Charge[], life: Millis, isDoubtful: boolean) => Promise<void>
}

/** For how long (in ms) the refund after a refusal is repeated: it is common, and the server keeps a mark of each. */
const REPEATED_AFTER_REFUSAL: Millis = 30_000

/**
 * Takes groups in order, those with enforced checks before those with only shadow checks, and stops at the first refusal:
 * then everything taken is refunded, checks that count refusals are charged, and the others are peeked at. When a group
 * cannot answer, what the earlier ones took is refunded before the call rejects.
 */
export async function takeInAllSlots(
  groups: readonly Group[],
  slots: SlotCalls,
): Promise<readonly Verdict[]> {
  const order = groups.toSorted((a, b) => Number(isShadow(a)) - Number(isShadow(b)))
  const verdicts: Verdict[] = []
  const done: Group[] = []
  for (const group of order) {
    try {
      place(verdicts, group, await slots.run('take', checksOf(group)))
    } catch (error) {
      const charged = done.map((earlier) => chargesIn(earlier, verdicts))
      await Promise.all(
        charged.map((charges) => slots.refund(charges, longestResetOf(charges), true)),
      )
      throw error
    }
    if (chargedBy(checksOf(group), verdictsOf(group, verdicts)) === undefined) {
      const others = order.filter((other) => other !== group)
      await Promise.all(others.map((other) => undo(other, done.includes(other), verdicts, slots)))
      return verdicts
    }
    done.push(group)
  }
  return verdicts
}

/** Another group refused: refund what this one took, charge the checks that count refusals, peek at the rest. */
async function undo(
  group: Group,
  wasTaken: boolean,
  verdicts: Verdict[],
  { run, refund }: SlotCalls,
): Promise<void> {
  const counting = group.filter(({ check }) => check.countRefused === true)
  const others = group.filter(({ check }) => check.countRefused !== true)
  if (wasTaken) {
    const charges = chargesIn(others, verdicts)
    await refund(charges, Math.min(longestResetOf(charges), REPEATED_AFTER_REFUSAL), false)
  } else for (const one of counting) place(verdicts, [one], await run('take', checksOf([one])))
  place(verdicts, others, await run('peek', checksOf(others)))
}

function checksOf(group: Group): readonly Check[] {
  return group.map(({ check }) => check)
}

function verdictsOf(group: Group, verdicts: readonly Verdict[]): readonly Verdict[] {
  return group.map(({ index }) => verdicts[index]!)
}

/** What was charged, to be refunded into the window in which it was charged. */
function chargesIn(group: Group, verdicts: readonly Verdict[]): readonly Charge[] {
  const isCharged = chargedBy(checksOf(group), verdictsOf(group, verdicts))
  const charged = group.filter(
    ({ check }, i) => isCharged?.[i] === true || check.countRefused === true,
  )
  return charged.map(({ check, index }) => {
    const { at, resetAfter } = verdicts[index]!
    return { check: { ...check, takenAt: at }, index, resetAfter }
  })
}

function place(verdicts: Verdict[], group: Group, answers: readonly Verdict[]): void {
  for (const [i, { index }] of group.entries()) verdicts[index] = answers[i]!
}

function isShadow(group: Group): boolean {
  return group.every(({ check }) => check.shadow === true)
}
