// What is known of the server's clock, so that a call can say until when it may act.
import type { Millis } from '../time/clock.ts'

/** As a deadline: none. */
export const ANY_TIME = 0
/** As a deadline: one that has passed on every server, so that the call only reads the time. */
const PAST = 1

/** Both clocks are read in whole milliseconds: a difference of two readings may be that much too large. */
const ROUNDING = 2

/**
 * How far the server's clock is ahead of ours: never more than it really is, so that no call acts after its
 * deadline, and as near to it as the quickest answer allows.
 */
export class ServerTime {
  private ahead: Millis | undefined

  /** The server's time at an instant of ours, or a little before. Long past while the server has never answered. */
  at(instant: Millis): Millis {
    return this.ahead === undefined ? PAST : instant + this.ahead
  }

  /** The server said `now` at some moment between two instants of ours. */
  learn(now: Millis, sentAt: Millis, receivedAt: Millis): void {
    const least = now - receivedAt - ROUNDING
    const most = now - sentAt
    // Above what is possible now: the server's clock was set back, or another server answers.
    if (this.ahead === undefined || least > this.ahead || this.ahead > most) this.ahead = least
  }
}
