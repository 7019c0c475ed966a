// Decisions that were answered and not noted yet: metrics and sketches are written beside the path of a request.
import type { Decision, DecisionRequest, Millis } from 'sluice'
import type { NamedKey } from './key-names.ts'

/**
 * Decisions that wait at most. Each keeps the attributes of its request alive, which may be a whole body; so few are no
 * burden to a small heap, and a busy service still writes many at a time.
 */
const MAX_WAITING = 16

/** The block that refused a request. */
export interface RefusingBlock {
  readonly id: string
  readonly attributes: NamedKey
}

/** One decision, and what is to be done with it. */
export interface QueuedDecision {
  readonly decision: Decision
  readonly request: DecisionRequest
  readonly elapsed: Millis
  /** How many decisions this one stands for; undefined if that is not chosen yet. */
  readonly weight: number | undefined
  /** The operator's block that refused the request. */
  readonly block: RefusingBlock | undefined
  readonly note: (queued: QueuedDecision) => void
}

/** Holds decisions until the next tick, until they are many, or until something is read that they count in. */
export class DecisionQueue {
  private waiting: QueuedDecision[] = []

  add(queued: QueuedDecision): void {
    if (this.waiting.push(queued) >= MAX_WAITING) this.drain()
  }

  /** Notes all that wait, in their order. */
  drain(): void {
    const { waiting } = this
    if (waiting.length === 0) return
    this.waiting = []
    for (const queued of waiting) queued.note(queued)
  }
}
