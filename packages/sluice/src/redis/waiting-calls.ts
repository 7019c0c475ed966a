// Calls that wait for the first connection of a client.
import type { Clock, Millis } from '../time/clock.ts'

interface WaitingCall {
  readonly until: Millis
  readonly send: () => void
  readonly drop: () => void
}

/** Keeps calls until there is a connection, each no longer than its caller waits. */
export class WaitingCalls {
  private readonly clock: Clock
  private calls: WaitingCall[] = []

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** Sends a call with {@link release}, if that comes within so many milliseconds. Otherwise it fails, and is never sent. */
  add(send: () => void, failed: (error: Error) => void, within: Millis): void {
    const now = this.clock()
    // Those who waited for them have given up, by the deadline of the store.
    this.drop((call) => call.until <= now)
    const drop = (): void => failed(new Error('timed out before the first connection'))
    this.calls.push({ until: now + within, send, drop })
  }

  /** There is a connection. */
  release(): void {
    const now = this.clock()
    this.drop((call) => call.until <= now)
    const calls = this.calls
    this.calls = []
    for (const { send } of calls) send()
  }

  private drop(isOver: (call: WaitingCall) => boolean): void {
    const [over, waiting] = [this.calls.filter(isOver), this.calls.filter((one) => !isOver(one))]
    this.calls = waiting
    for (const { drop } of over) drop()
  }
}
