// Refusals in the log: the first of each key, a few lines a minute, then only how many there were.
import type { Millis } from 'sluice'
import type { Log } from '../log/log.ts'
import { visible } from '../log/client-text.ts'
import type { JournalEntry } from './journal.ts'

const MINUTE: Millis = 60_000
/** Lines in one minute. */
const MAX_LINES = 10

/** Logs the first refusal of a key. An attack by many keys writes ten lines a minute, and one with their number. */
export class RefusalLog {
  private readonly log: Log
  private minute = 0
  private lines = 0
  private more = 0

  constructor(log: Log) {
    this.log = log
  }

  /** Notes the first refusal of a key after a while. */
  readonly note = ({ policy, rule, attributes, reason, last }: JournalEntry): void => {
    const minute = Math.floor(last / MINUTE)
    if (minute !== this.minute) this.turn(minute)
    if (this.lines >= MAX_LINES) {
      this.more += 1
      return
    }
    this.lines += 1
    const shown = Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [visible(name, 60), visible(value, 100)]),
    )
    this.log.info({ policy, rule, attributes: shown, reason }, 'a key is refused')
  }

  private turn(minute: number): void {
    if (this.more > 0) this.log.info({ keys: this.more }, 'more keys were refused in that minute')
    this.minute = minute
    this.lines = 0
    this.more = 0
  }
}
