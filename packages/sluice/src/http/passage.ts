// What happened to one request at one guard, kept with the request.
import type { Decision } from '../decision/decision.ts'
import type { Attributes } from '../policy/policy.ts'
import type { MaybePromise } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import type { Refusal } from './refusal.ts'

/** Whoever let the request through, or did not. */
export interface Keeper {
  /** Makes the request cost so many units in all. Never throws or rejects. */
  settle(passage: Passage, cost: number): MaybePromise<void>
}

/** The way of one request through one guard. */
export class Passage {
  readonly keeper: Keeper
  /** Null when nothing was asked. */
  readonly decision: Decision | null
  /** Whom the request counted as. */
  readonly subject: Attributes | string
  /** Units that the request has taken so far. */
  cost: number
  /** How long to hold the request before it goes on. */
  delay: Millis
  /** The reply to send instead of going on. */
  refusal: Refusal | null
  /** The passage through the guard before this one. */
  readonly earlier: Passage | undefined

  constructor(
    keeper: Keeper,
    decision: Decision | null,
    subject: Attributes | string,
    cost: number,
    earlier: Passage | undefined,
  ) {
    this.keeper = keeper
    this.decision = decision
    this.subject = subject
    this.cost = cost
    this.delay = 0
    this.refusal = null
    this.earlier = earlier
  }
}

/** Where a request keeps its last passage. */
const PASSAGE = Symbol('sluice.passage')

interface Marked {
  [PASSAGE]?: Passage
}

/** The last passage of a request. */
export function passageOf(request: object): Passage | undefined {
  return (request as Marked)[PASSAGE]
}

/** Keeps a passage with its request. */
export function keepPassage(request: object, passage: Passage): void {
  ;(request as Marked)[PASSAGE] = passage
}

/** The decision about a request by the guard that it passed last; undefined before it passed one. */
export function decisionOf(request: object): Decision | undefined {
  return passageOf(request)?.decision ?? undefined
}

/**
 * Says what a request cost in the end, for work that ends later than its response: what was taken too much
 * goes back, what is missing is taken. For the guard that the request passed last.
 */
export function settle(request: object, cost: number): MaybePromise<void> {
  const passage = passageOf(request)
  if (passage !== undefined) return passage.keeper.settle(passage, cost)
}
