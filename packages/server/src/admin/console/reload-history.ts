// What reloads have changed since this process began, for the console.
import type { Millis, Policy } from 'sluice'
import { policyChanges } from '../../reload/policy-changes.ts'

/** Reloads that are kept. */
const MAX_RELOADS = 50

/** One change of the policies. */
export interface Reload {
  readonly at: Millis
  readonly generation: number
  /** Each change as a short line. */
  readonly changes: readonly string[]
}

/** The policies in force. */
interface InForce {
  readonly generation: number
  readonly policies: readonly Policy[]
}

/** Compares the policies in force with the previous ones, on request. */
export class ReloadHistory {
  private readonly inForce: () => InForce
  private last: InForce
  private reloads: readonly Reload[] = []

  constructor(inForce: () => InForce) {
    this.inForce = inForce
    this.last = inForce()
  }

  get list(): readonly Reload[] {
    return this.reloads
  }

  /** Notes what has changed since the last look. */
  look(at: Millis): void {
    const { generation, policies } = this.inForce()
    if (generation === this.last.generation) return
    const changes = policyChanges(this.last.policies, policies)
    this.last = { generation, policies }
    // Live overrides are a new generation too, of the same policies.
    if (changes.length === 0) return
    this.reloads = [...this.reloads, { at, generation, changes }].slice(-MAX_RELOADS)
  }
}
