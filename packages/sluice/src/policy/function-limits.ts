// Limits that a function of the application chooses: each distinct value is checked and placed once.
import { show, SluiceError } from '../errors.ts'
import type { LimitInput } from '../limit/limit.ts'
import type { PlacedLimit } from '../limit/placed-limit.ts'
import type { Attributes, LimitFunction } from './policy.ts'

/** Distinct values that are remembered at most. A function should choose from few limits. */
const MAX_VALUES = 1000

/**
 * The limit that a function chooses, placed; null for none. The function's values share the rule's counts. A count is
 * kept until it is empty at the slowest rate that the function has returned so far in this process.
 */
export function functionLimits(
  rule: string,
  choose: LimitFunction,
  place: (input: LimitInput) => PlacedLimit,
): (attributes: Attributes) => PlacedLimit | null {
  const byText = new Map<string, PlacedLimit>()
  let byObject = new WeakMap<object, PlacedLimit>()
  const slowest = new Map<string, number>()

  const placeWithSlowest = (input: LimitInput): PlacedLimit => {
    const placedLimit = place(input)
    const { space, limit } = placedLimit
    if (limit.quota === 0) return placedLimit
    const least = Math.min(
      limit.quota,
      placedLimit.slowestQuota ?? Infinity,
      slowest.get(space) ?? Infinity,
    )
    if (least < (slowest.get(space) ?? Infinity)) {
      slowest.set(space, least)
      // The others learn the slower rate when they are chosen next.
      byText.clear()
      byObject = new WeakMap()
    }
    return least === limit.quota ? placedLimit : { ...placedLimit, slowestQuota: least }
  }

  return (attributes) => {
    const input: unknown = choose(attributes)
    if (input === 'unlimited') return null
    if (typeof input !== 'string' && (typeof input !== 'object' || input === null))
      throw wrong(rule, input)
    const text = typeof input === 'string' ? input : undefined
    let known = text === undefined ? byObject.get(input as object) : byText.get(text)
    if (known !== undefined) return known
    const name = text ?? nameOf(rule, input as object)
    known = byText.get(name)
    if (known === undefined) {
      known = checkChosen(rule, () => placeWithSlowest(input as LimitInput))
      if (byText.size >= MAX_VALUES) byText.clear()
      byText.set(name, known)
    }
    if (text === undefined) byObject.set(input as object, known)
    return known
  }
}

/** A name that is the same for equal parts. */
function nameOf(rule: string, input: object): string {
  if (typeof (input as { then?: unknown }).then === 'function') throw wrong(rule, input)
  return JSON.stringify(Object.entries(input).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function checkChosen<T>(rule: string, make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error
    const message = `the limit function of rule ${show(rule)}: ${error.message}`
    throw new SluiceError(error.code, message, { cause: error })
  }
}

function wrong(rule: string, value: unknown): SluiceError {
  return new SluiceError(
    'invalid-limit',
    `the limit function of rule ${show(rule)} returned ${show(value)}; accepted: a limit such as '100/min' or 'unlimited', at once (look up what it needs first, and pass it as an attribute)`,
  )
}
