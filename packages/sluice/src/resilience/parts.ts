// The parts of a store that fail apart, each left alone by itself.
import type { Decision } from '../decision/decision.ts'
import type { Attributes } from '../policy/policy.ts'
import type { Breaker } from './breaker.ts'
import type { OnEvent, ResilienceEvent } from './events.ts'
import { Gate, type GateParts } from './gate.ts'
import { Spans } from './spans.ts'

/** How a store falls into parts. */
export interface Division {
  /** The number of the part that answers a request. */
  partOf(attributes: Attributes | string): number
  /** A breaker for one more part. */
  breaker(): Breaker
}

/** One part: whether it is asked, and when the stand-in answered for it. */
export class Part {
  readonly gate: Gate
  readonly spans: Spans = new Spans()

  constructor(parts: GateParts) {
    this.gate = new Gate(parts)
  }

  /** A call that entered while the gate was closed went well. */
  readonly passed = (decision: Decision): Decision => {
    this.gate.passed()
    this.spans.end()
    return decision
  }
}

/** All parts of a store. Most have one. */
export class Parts {
  private readonly first: Part
  private readonly others = new Map<number, Part>()
  private readonly parts: GateParts
  private readonly division: Division | undefined
  private notClosed = 0

  constructor(parts: GateParts, division: Division | undefined) {
    this.division = division
    const { onEvent } = parts
    const isHeard = onEvent !== undefined && division !== undefined
    this.parts = isHeard ? { ...parts, onEvent: this.asOne(onEvent) } : parts
    this.first = new Part(this.parts)
  }

  /** The part that answers a request. */
  of(attributes: Attributes | string): Part {
    const { division } = this
    if (division === undefined) return this.first
    const number = division.partOf(attributes)
    if (number === 0) return this.first
    let part = this.others.get(number)
    if (part === undefined) {
      part = new Part({ ...this.parts, breaker: division.breaker() })
      this.others.set(number, part)
    }
    return part
  }

  /** The store can be reached again, so it seems. */
  hint(): void {
    this.first.gate.hint()
    for (const { gate } of this.others.values()) gate.hint()
  }

  emit(event: ResilienceEvent): void {
    this.first.gate.emit(event)
  }

  /** Listeners hear of one store: it is open from the first part's opening to the last one's closing. */
  private asOne(onEvent: OnEvent): OnEvent {
    return (event) => {
      if (event.type === 'opened' && this.notClosed++ > 0) return
      if (event.type === 'closed' && --this.notClosed > 0) return
      return onEvent(event)
    }
  }
}
