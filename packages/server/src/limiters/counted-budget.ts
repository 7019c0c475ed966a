// A budget that counts its open reservations and slots.
import { isPromise, type Attributes, type MaybePromise, type Millis } from 'sluice'
import { reservationData, type Reservation, type Settlements, type Slot } from 'sluice/budgets'
import type { HeldUnits } from '../metrics/units-out.ts'
import type { ServiceBudget } from './limiters.ts'

/** Reservations whose end was moved, and slots that were left, that are remembered. */
const MAX_MOVED = 10_000

/** The same budget; `held` counts the units that it holds. */
export function countedBudget(budget: ServiceBudget, held: HeldUnits): ServiceBudget {
  /** The end of reservations that were extended here; 0 of those that are over. */
  const ends = new Map<string, Millis>()
  const remember = (id: string, end: Millis): void => {
    ends.delete(id)
    if (ends.size >= MAX_MOVED) ends.delete(ends.keys().next().value!)
    ends.set(id, end)
  }
  const move = (id: string, to: Millis): void => {
    const { units, endsAt, isDegraded } = reservationData(id)
    if (isDegraded) return
    const kind = units === 0 ? held.slots : held.holds
    const size = units === 0 ? 1 : units
    kind.add(-size, ends.get(id) ?? endsAt)
    kind.add(size, to)
    remember(id, to)
  }
  const noteHeld = <T extends Reservation | Slot>(made: T): T => {
    if (made.allowed && made.id !== '') {
      const { units, endsAt, isDegraded } = reservationData(made.id)
      if (!isDegraded) (units === 0 ? held.slots : held.holds).add(units || 1, endsAt)
    }
    return made
  }
  const noteSettled =
    (id: string) =>
    (answer: Settlements): Settlements => {
      if (answer.status === 'settled') move(id, answer.endsAt)
      return answer
    }
  const counted = {
    reserve: (attributes: Attributes | string, estimate?: number) =>
      after(budget.reserve(attributes, estimate), noteHeld),
    settle: (id: string, actual: Parameters<ServiceBudget['settle']>[1]) =>
      after(budget.settle(id, actual), noteSettled(id)),
    extend: (id: string) => after(budget.extend(id), noteSettled(id)),
    cancel: (id: string) => after(budget.cancel(id), noteSettled(id)),
    enter: (attributes: Attributes | string, cost?: number, isRenewed?: boolean) =>
      after(budget.enter(attributes, cost, isRenewed), noteHeld),
    leave: (id: string) =>
      after(budget.leave(id), () => {
        if (ends.get(id) !== 0) move(id, 0)
      }),
    close: () => budget.close(),
  }
  return counted as ServiceBudget
}

function after<T, U>(answer: MaybePromise<T>, then: (answer: T) => U): MaybePromise<U> {
  return isPromise(answer) ? answer.then(then) : then(answer)
}
