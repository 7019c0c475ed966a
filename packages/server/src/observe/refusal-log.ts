// Refusals in the log: the first of each key, a few lines a minute, then only how many there were.
import type { Log } from '../log/log.ts'
import { visible } from '../log/client-text.ts'
import type { JournalEntry } from './journal.ts'

/** Lines in one minute. */
const MAX_LINES = 10

/** Logs the first refusal of a key. An attack by many keys writes ten lines a minute, and one with the numbers. */
export class RefusalLog {
  private readonly log: Log
  /** Keys of this minute whose first refusal was noted, and lines that were written. */
  private keys = 0
  private lines = 0

  constructor(log: Log) {
    this.log = log
  }

  /** Notes the first refusal of a key after a while. */
  readonly note = ({ policy, rule, attributes, reason }: JournalEntry): void => {
    this.keys += 1
    if (this.lines >= MAX_LINES) return
    this.lines += 1
    const shown = Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [visible(name, 60), visible(value, 100)]),
    )
    this.log.info({ policy, rule, attributes: shown, reason }, 'a key is refused')
  }

  /** Ends a minute in which so many requests were refused: logs the number, if its lines do not show all of them. */
  readonly endMinute = (refusals: number): void => {
    const { keys, lines } = this
    this.keys = 0
    this.lines = 0
    if (refusals > lines) this.log.info({ refusals, newKeys: keys }, 'refusals of the last minute')
  }
}
