// A request whose counts are in several cluster slots: taken group by group, refunded on a refusal.
import type { Verdict } from '../limit/verdict.ts'
import { chargedBy } from '../stores/pools.ts'
import type { Check } from '../stores/store.ts'
import type { Operation } from './shape.ts'

/** A check and its place in the request. */
export interface Indexed {
  readonly check: Check
  readonly index: number
}

type Group = readonly Indexed[]
type Run = (operation: Operation, checks: readonly Check[]) => Promise<readonly Verdict[]>

/**
 * Takes groups in order, those with enforced checks before those with only shadow checks, and stops at the first refusal:
 * then everything taken is refunded, checks that count refusals are charged, and the others are peeked at. When a group
 * cannot answer, what the earlier ones took is refunded before the call rejects.
 */
export async function takeAcross(groups: readonly Group[], run: Run): Promise<readonly Verdict[]> {
  const order = groups.toSorted((a, b) => Number(isShadow(a)) - Number(isShadow(b)))
  const verdicts: Verdict[] = []
  const done: Group[] = []
  for (const group of order) {
    try {
      place(verdicts, group, await run('take', checksOf(group)))
    } catch (error) {
      await Promise.allSettled(done.map((earlier) => run('refund', takenIn(earlier, verdicts))))
      throw error
    }
    if (chargedBy(checksOf(group), verdictsOf(group, verdicts)) === undefined) {
      const others = order.filter((other) => other !== group)
      await Promise.all(others.map((other) => undo(other, done.includes(other), verdicts, run)))
      return verdicts
    }
    done.push(group)
  }
  return verdicts
}

/** Another group refused: refund what this one took, charge the checks that count refusals, peek at the rest. */
async function undo(group: Group, wasTaken: boolean, verdicts: Verdict[], run: Run): Promise<void> {
  const counting = group.filter(({ check }) => check.countRefused === true)
  const others = group.filter(({ check }) => check.countRefused !== true)
  if (wasTaken) await run('refund', takenIn(others, verdicts))
  else for (const one of counting) place(verdicts, [one], await run('take', checksOf([one])))
  place(verdicts, others, await run('peek', checksOf(others)))
}

function checksOf(group: Group): readonly Check[] {
  return group.map(({ check }) => check)
}

function verdictsOf(group: Group, verdicts: readonly Verdict[]): readonly Verdict[] {
  return group.map(({ index }) => verdicts[index]!)
}

/** What was charged, to be refunded into the window in which it was charged. */
function takenIn(group: Group, verdicts: readonly Verdict[]): readonly Check[] {
  const isCharged = chargedBy(checksOf(group), verdictsOf(group, verdicts))
  const charged = group.filter(
    ({ check }, i) => isCharged?.[i] === true || check.countRefused === true,
  )
  return charged.map(({ check, index }) => ({ ...check, takenAt: verdicts[index]!.at }))
}

function place(verdicts: Verdict[], group: Group, answers: readonly Verdict[]): void {
  for (const [i, { index }] of group.entries()) verdicts[index] = answers[i]!
}

function isShadow(group: Group): boolean {
  return group.every(({ check }) => check.shadow === true)
}
