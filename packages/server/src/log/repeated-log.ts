// Keeps an outage from filling the disk: the same event is logged at most once a minute, with how often it came.
import type { Clock } from 'sluice'
import type { Log } from './log.ts'

const MINUTE = 60_000

/** Logs warnings by code; repetitions within a minute are only counted. */
export class RepeatedLog {
  private readonly log: Log
  private readonly clock: Clock
  private readonly seen = new Map<string, { since: number; more: number }>()

  constructor(log: Log, clock: Clock = () => performance.now()) {
    this.log = log
    this.clock = clock
  }

  /** `code` must come from a fixed set, since one entry is kept for each. */
  warn(code: string, fields: object, message: string): void {
    const now = this.clock()
    const last = this.seen.get(code)
    if (last !== undefined && now - last.since < MINUTE) {
      last.more++
      return
    }
    this.seen.set(code, { since: now, more: 0 })
    const more = last?.more ?? 0
    this.log.warn(more > 0 ? { code, more, ...fields } : { code, ...fields }, message)
  }
}
